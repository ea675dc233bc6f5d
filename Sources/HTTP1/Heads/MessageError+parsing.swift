// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPExchange

extension MessageError {
    /// The fault as the sender of the refused bytes is told.
    package init(_ error: HTTPParseError) {
        switch error {
        case .bodyTooLarge: self = .bodyTooLarge
        case .targetTooLong: self = .malformed(.targetTooLong)
        case .headTooLarge: self = .malformed(.headTooLarge)
        case .tooManyFields: self = .malformed(.tooManyFields)
        case .trailersTooLarge: self = .malformed(.trailersTooLarge)
        case .methodTooLong: self = .malformed(.methodTooLong)
        case .unknownTransferCoding: self = .malformed(.unknownCoding)
        case .unsupportedVersion: self = .malformed(.unsupportedVersion)
        case .handshake: self = .malformed(.handshake)
        case .malformedStartLine, .malformedMethod, .malformedVersion, .malformedStatusCode, .malformedReason,
            .whitespaceInTarget, .controlByteInTarget, .fragmentInTarget, .malformedTarget, .bareLineFeed,
            .bareCarriageReturn, .foldedField, .whitespaceBeforeColon, .missingColon, .malformedFieldName,
            .controlByteInField, .missingHost, .repeatedHost, .malformedHost, .conflictingHost,
            .malformedContentLength, .repeatedContentLength, .conflictingFraming, .malformedTransferEncoding,
            .transferEncodingInHTTP10, .malformedChunkSize, .malformedChunkExtension, .chunkExtensionsTooLong,
            .malformedChunkEnd:
            self = .malformed(.breaking(rule: error.rule))
        }
    }
}

extension HTTPParseError {
    /// The broken rule in a few words, none of which the message has.
    fileprivate var rule: String {
        switch self {
        case .malformedStartLine: "the first line is not METHOD TARGET VERSION with single spaces"
        case .handshake: "TLS in place of a request"
        case .malformedMethod: "the method is no token"
        case .methodTooLong: "the method is longer than any that is known"
        case .malformedVersion: "the version is not HTTP/ and two digits"
        case .unsupportedVersion: "another version than HTTP/1.0 and HTTP/1.1"
        case .malformedStatusCode: "the status is not three digits"
        case .malformedReason: "a control byte in the reason phrase"
        case .whitespaceInTarget: "a space in the target"
        case .controlByteInTarget: "a control byte in the target"
        case .fragmentInTarget: "a fragment (#) in the target"
        case .malformedTarget: "the target is neither a path nor a URL"
        case .targetTooLong: "the target is too long"
        case .bareLineFeed: "a line that ends with LF alone"
        case .bareCarriageReturn: "a CR without LF"
        case .foldedField: "a field line that begins with white space"
        case .whitespaceBeforeColon: "white space before a field's colon"
        case .missingColon: "a field line without a colon"
        case .malformedFieldName: "a field name that is no token"
        case .controlByteInField: "a control byte in a field value"
        case .headTooLarge, .tooManyFields: "too long a head, or too many fields"
        case .missingHost: "no Host"
        case .repeatedHost: "more than one Host"
        case .malformedHost: "a Host that is no host and port"
        case .conflictingHost: "the target's authority differs from Host"
        case .malformedContentLength: "a Content-Length that is no number"
        case .repeatedContentLength: "more than one Content-Length"
        case .conflictingFraming: "Content-Length and Transfer-Encoding together"
        case .unknownTransferCoding: "an unknown transfer coding"
        case .malformedTransferEncoding: "chunked is not the last transfer coding, or not the only one"
        case .transferEncodingInHTTP10: "Transfer-Encoding in HTTP/1.0"
        case .malformedChunkSize: "a chunk size that is no hexadecimal number"
        case .malformedChunkExtension: "a malformed chunk extension"
        case .chunkExtensionsTooLong: "chunk extensions that are too long"
        case .malformedChunkEnd: "a chunk that does not end where its size says"
        case .bodyTooLarge: "too large a body"
        case .trailersTooLarge: "too large a trailer section"
        }
    }
}
