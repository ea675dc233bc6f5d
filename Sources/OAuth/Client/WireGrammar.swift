// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

/// What values of a client's configuration may look like, whoever writes them.
package enum WireGrammar {
    /// What is put into the heads of requests anyway.
    package static let builtInHeaders: Set<HTTPFields.Name> = [
        .accept, .authorization, .connection, .contentLength, .contentType, .dpop, .expect, .host,
        .transferEncoding,
    ]

    /// A scope token (RFC 6749 §3.3).
    package static func isScopeToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { 0x21...0x7E ~= $0 && $0 != 0x22 && $0 != 0x5C }
    }

    /// An absolute URI without a fragment (RFC 8707 §2).
    package static func isAbsoluteURI(_ text: String) -> Bool {
        let scheme = text.prefix { $0 != ":" }
        guard let first = scheme.first, first.isASCII, first.isLetter, scheme.endIndex < text.endIndex else {
            return false
        }
        return text.utf8.allSatisfy { 0x21...0x7E ~= $0 } && !text.contains("#")
    }

    /// An issuer's URL, without query and fragment (RFC 8414 §2).
    package static func isIssuer(_ text: String) -> Bool {
        guard let url = HTTPURL(text) else { return false }
        return url.scheme != .unix && url.query == nil
    }

    /// A text without control characters.
    package static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}
