// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants

/// libFuzzer's entry: traps when a text that repeats a secret would be shown.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Invariants.require(of: bytes, count) { Invariants.violation(heldSecret: $0) }
}
