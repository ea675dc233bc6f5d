// SPDX-License-Identifier: Apache-2.0

/// The hash by which a content security policy names an inline style sheet or script (CSP Level 3 §2.3.1).
package enum ContentHash {
    /// The source expression for exactly this text.
    package static func source(_ text: String) -> String {
        "'sha256-\(Base64.encode(SHA256.digest(Array(text.utf8))))'"
    }
}
