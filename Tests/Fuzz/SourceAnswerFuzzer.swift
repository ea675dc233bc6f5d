// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants

/// libFuzzer's entry: traps when an invariant of what commands print and metadata servers answer does not hold.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Invariants.require(of: bytes, count) { Invariants.violation(sourceAnswer: $0) }
}
