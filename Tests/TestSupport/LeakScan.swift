// SPDX-License-Identifier: Apache-2.0

/// Searches texts for secrets.
package enum LeakScan {
    /// Returns the secrets of which `text` contains all or a recognisable part.
    package static func leaks(of secrets: some Sequence<String>, in text: String) -> [String] {
        secrets.filter { secret in
            let telling = secret.count > 24 ? String(secret.suffix(20)) : secret
            return !telling.isEmpty && text.contains(telling)
        }
    }
}
