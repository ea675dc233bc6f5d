// SPDX-License-Identifier: Apache-2.0

/// How a content security policy names a style sheet or script that stands in a page (CSP Level 3 §2.3.1).
package enum ContentHash {
    /// The source expression of a text, to the letter.
    package static func source(_ text: String) -> String {
        "'sha256-\(Base64.encode(SHA256.digest(Array(text.utf8))))'"
    }
}
