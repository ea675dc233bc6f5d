// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants

/// libFuzzer's entry: traps when an invariant of HTTP/2 does not hold on the side that gets requests.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Invariants.require(of: bytes, count) { Invariants.violation(http2Requests: $0) }
}
