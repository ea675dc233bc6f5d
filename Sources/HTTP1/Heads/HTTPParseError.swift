// SPDX-License-Identifier: Apache-2.0

/// The reason why a message was refused.
package enum HTTPParseError: Error, Equatable, Sendable, CaseIterable {
    // The start line.

    /// Not `method SP target SP version`, or not `version SP status`.
    case malformedStartLine
    /// The method is no token.
    case malformedMethod
    /// A TLS handshake in place of a request.
    case handshake
    /// The method is longer than any that bearerd knows (RFC 9112 §3).
    case methodTooLong
    /// The version is not `HTTP/` and digits.
    case malformedVersion
    /// A version other than 1.0 and 1.1.
    case unsupportedVersion
    /// The status code is not three digits from 100 on.
    case malformedStatusCode
    /// A control byte in the reason phrase.
    case malformedReason

    // The request target.

    /// A space in the target.
    case whitespaceInTarget
    /// A control byte in the target.
    case controlByteInTarget
    /// A `#` in the target (RFC 9112 §3.2: a fragment is never sent).
    case fragmentInTarget
    /// None of the forms of RFC 9112 §3.2, or `*` without OPTIONS.
    case malformedTarget
    /// The target is longer than `limits.uri_bytes`.
    case targetTooLong

    // Line ends and fields.

    /// A LF without CR before it.
    case bareLineFeed
    /// A CR without LF behind it.
    case bareCarriageReturn
    /// A field line that begins with white space (RFC 9112 §5.2).
    case foldedField
    /// White space between a field's name and its colon (RFC 9112 §5.1).
    case whitespaceBeforeColon
    /// A field line without a colon.
    case missingColon
    /// A field name that is no token, or empty.
    case malformedFieldName
    /// A control byte in a field value.
    case controlByteInField
    /// The head is longer than `limits.header_bytes`.
    case headTooLarge
    /// More field lines than the parser takes.
    case tooManyFields

    // Host.

    /// HTTP/1.1 without `Host`.
    case missingHost
    /// More than one `Host`.
    case repeatedHost
    /// A `Host` that is no host and port.
    case malformedHost
    /// The authority of an absolute-form target differs from `Host`.
    case conflictingHost

    // Framing (RFC 9112 §6).

    /// `Content-Length` is no number that fits 63 bits.
    case malformedContentLength
    /// More than one `Content-Length`.
    case repeatedContentLength
    /// Both `Content-Length` and `Transfer-Encoding`.
    case conflictingFraming
    /// A transfer coding other than `chunked`.
    case unknownTransferCoding
    /// `chunked` twice, not last, with parameters, or an empty `Transfer-Encoding`.
    case malformedTransferEncoding
    /// `Transfer-Encoding` in an HTTP/1.0 message.
    case transferEncodingInHTTP10

    // Chunked coding (RFC 9112 §7.1).

    /// A chunk size that is no hexadecimal number, or does not fit 63 bits.
    case malformedChunkSize
    /// A chunk extension that breaks the grammar of RFC 9112 §7.1.1.
    case malformedChunkExtension
    /// More bytes of chunk extensions than anybody needs.
    case chunkExtensionsTooLong
    /// No CR LF after a chunk's data.
    case malformedChunkEnd
    /// The chunks announce more than the body may have.
    case bodyTooLarge
    /// The trailer section is too long.
    case trailersTooLarge

    /// True of bytes that do not begin as a response does: they are hardly HTTP.
    package var isOfStatusLine: Bool {
        switch self {
        case .malformedStartLine, .malformedVersion, .malformedStatusCode, .malformedReason: true
        default: false
        }
    }
}
