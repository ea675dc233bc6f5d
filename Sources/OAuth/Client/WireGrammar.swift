// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// The syntax of a client's configured values.
package enum WireGrammar {
    /// The headers that requests have anyway, and that may not be configured.
    package static let builtInHeaders: Set<HTTPFields.Name> = [
        .authorization, .connection, .contentLength, .contentType, .dpop, .expect, .host,
        .transferEncoding,
    ]

    /// Returns true for a scope token (RFC 6749 §3.3).
    package static func isScopeToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { 0x21...0x7E ~= $0 && $0 != 0x22 && $0 != 0x5C }
    }

    /// Returns true for an absolute URI without a fragment (RFC 8707 §2).
    package static func isAbsoluteURI(_ text: String) -> Bool {
        let scheme = text.prefix { $0 != ":" }
        guard let first = scheme.first, first.isASCII, first.isLetter, scheme.endIndex < text.endIndex else {
            return false
        }
        return text.utf8.allSatisfy { 0x21...0x7E ~= $0 } && !text.contains("#")
    }

    /// Returns true for a URL without query and fragment, as an issuer is (RFC 8414 §2).
    package static func isIssuer(_ text: String) -> Bool {
        guard let url = HTTPURL(text) else { return false }
        return url.scheme != .unix && url.query == nil
    }

    /// Returns true for a text without control characters.
    package static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}
