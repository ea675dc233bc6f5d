// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPExchange

extension MessageError {
    /// The fault as the sender of the refused bytes is told.
    package init(_ error: HTTPParseError) {
        switch error {
        case .bodyTooLarge: self = .bodyTooLarge
        case .targetTooLong: self = .malformed(.targetTooLong)
        case .headTooLarge, .tooManyFields, .trailersTooLarge: self = .malformed(.headTooLarge)
        case .methodTooLong: self = .malformed(.methodTooLong)
        case .unknownTransferCoding: self = .malformed(.unknownCoding)
        case .unsupportedVersion: self = .malformed(.unsupportedVersion)
        case .malformedStartLine, .malformedMethod, .malformedVersion, .malformedStatusCode, .malformedReason,
            .whitespaceInTarget, .controlByteInTarget, .fragmentInTarget, .malformedTarget, .bareLineFeed,
            .bareCarriageReturn, .foldedField, .whitespaceBeforeColon, .missingColon, .malformedFieldName,
            .controlByteInField, .missingHost, .repeatedHost, .malformedHost, .conflictingHost,
            .malformedContentLength, .repeatedContentLength, .conflictingFraming, .malformedTransferEncoding,
            .transferEncodingInHTTP10, .malformedChunkSize, .malformedChunkExtension, .chunkExtensionsTooLong,
            .malformedChunkEnd:
            self = .malformed(.malformed)
        }
    }
}
