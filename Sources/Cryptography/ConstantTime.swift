// SPDX-License-Identifier: Apache-2.0

internal import CBearerdOpenSSL

/// Comparisons whose duration says nothing about the content.
package enum ConstantTime {
    /// Returns true if both are the same bytes (`CRYPTO_memcmp`); only different lengths return early.
    package static func equal(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first.count == second.count
            && first.withUnsafeBytes { a in
                second.withUnsafeBytes { b in
                    a.count == 0 || CRYPTO_memcmp(a.baseAddress, b.baseAddress, a.count) == 0
                }
            }
    }
}
