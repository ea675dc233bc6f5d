// SPDX-License-Identifier: Apache-2.0

/// Looks for secrets where none may be.
package enum LeakScan {
    /// The secrets that occur in the text, whole, or with a telling part of them.
    package static func leaks(of secrets: some Sequence<String>, in text: String) -> [String] {
        secrets.filter { secret in
            let telling = secret.count > 24 ? String(secret.suffix(20)) : secret
            return !telling.isEmpty && text.contains(telling)
        }
    }
}
