// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages

extension Invariants {
    /// Checks the reading of a `traceparent`.
    ///
    /// A valid one is written again unchanged, except for an unknown version and unknown flags.
    package static func violation(traceparent bytes: [UInt8]) -> String? {
        guard let context = TraceContext(traceparent: bytes.span) else {
            let isOurs = bytes.count == 55 && bytes.starts(with: "00-1".utf8)
            return isOurs && bytes.allSatisfy({ $0 == 0x2D || 0x30...0x39 ~= $0 })
                && [2, 35, 52].allSatisfy({ bytes[$0] == 0x2D }) && bytes.count(where: { $0 == 0x2D }) == 3
                && bytes[36..<52].contains { $0 != 0x30 } ? "a good one refused" : nil
        }
        let written = Array(context.fieldValue.utf8)
        if written.count != 55 { return "not 55 bytes" }
        if context.traceIDText.allSatisfy({ $0 == "0" }) || context.spanID == 0 {
            return "an identifier of zero"
        }
        if written[3..<52] != bytes[3..<52] { return "another identifier" }
        if bytes.starts(with: "ff".utf8) { return "a version that is none" }
        if TraceContext(traceparent: written.span) != context { return "not read again" }
        return nil
    }
}
