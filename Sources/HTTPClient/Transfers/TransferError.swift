// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPExchange
package import BearerdSystem
internal import CBearerdLibcurl

/// A transfer brought no complete response.
///
/// No case holds anything that was sent or received.
package enum TransferError: Error, Equatable, Sendable {
    /// No connection was made; the server has not seen the request.
    case notConnected(UpstreamError)
    /// Another user than the allowed ones owns the other end; the request was not sent.
    case foreign(PeerUser)
    /// The name leads to an address that is neither this machine's nor one of its own link: nothing was sent.
    case tooFar
    /// The time limit passed after the request was sent; it may have been processed.
    case timedOut
    /// The connection ended before the response did; the request may have been processed.
    case interrupted
    /// The head exceeds 64 KiB, or the body exceeds the limit of the request.
    case tooLarge
    /// The response is not HTTP.
    case malformed
    /// The waiting task was cancelled.
    case cancelled
    case other(CurlError)

    /// True if a certificate is at fault, the server's, a proxy's or ours, so that a retry will not help.
    package var isCertificate: Bool {
        switch self {
        case .notConnected(let error): error.isOfCertificate
        case .timedOut, .interrupted, .tooLarge, .malformed, .cancelled, .foreign, .tooFar, .other: false
        }
    }

    /// Classifies the error of a failed transfer.
    init(_ code: CURLcode, of transfer: CurlTransfer) {
        let failure = UpstreamError(code, of: transfer)
        if case .proxy = failure {
            self = .notConnected(failure)
            return
        }
        switch code {
        case CURLE_OPERATION_TIMEDOUT:
            self = .timedOut
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SEND_ERROR:
            self = .interrupted
        case CURLE_WRITE_ERROR:
            self = .tooLarge
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
            self = .malformed
        default:
            switch failure {
            case .other where code == CURLE_RECV_ERROR: self = .interrupted
            case .other: self = .other(CurlError(code))
            case let error: self = .notConnected(error)
            }
        }
    }
}
