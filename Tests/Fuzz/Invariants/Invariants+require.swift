// SPDX-License-Identifier: Apache-2.0

extension Invariants {
    /// Traps with a message if an input violates an invariant; called by every fuzzer.
    ///
    /// - Parameters:
    ///   - bytes: libFuzzer's; nil if there are none.
    ///   - violation: tells which invariant does not hold.
    /// - Returns: what libFuzzer wants to hear of an input that is worth keeping.
    package static func require(
        of bytes: UnsafePointer<UInt8>?, _ count: Int, _ violation: ([UInt8]) -> String?
    ) -> CInt {
        guard let violation = violation(Array(UnsafeBufferPointer(start: bytes, count: count))) else {
            return 0
        }
        print(violation)
        preconditionFailure(violation)
    }
}
