// SPDX-License-Identifier: Apache-2.0

/// Text that occurs nowhere else: so that a leak of it is sure to be one.
package func randomText(_ count: Int = 40) -> String {
    let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789")
    return String((0..<count).compactMap { _ in alphabet.randomElement() })
}
