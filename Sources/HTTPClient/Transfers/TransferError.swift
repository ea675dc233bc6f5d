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
    /// ``TransferRequest/maySend`` said no: the request was not sent.
    case withheld
    /// The time limit passed after the request was sent; it may have been processed.
    case timedOut
    /// The connection ended before a response began; the request may have been processed.
    case unanswered
    /// The connection ended before the response did; the request may have been processed.
    case interrupted
    /// The head exceeds 64 KiB, or the body, or the framing of its chunks, exceeds the limit of the request.
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
        case .timedOut, .unanswered, .interrupted, .tooLarge, .malformed, .cancelled, .foreign, .tooFar,
            .withheld, .other:
            false
        }
    }

    /// Classifies the error of a failed transfer.
    init(_ code: CURLcode, of transfer: CurlTransfer) {
        let failure = UpstreamError(code, of: transfer)
        if case .proxy = failure {
            self = .notConnected(failure)
            return
        }
        // A server that ends TLS for our certificate has looked at nothing that was sent behind it.
        if case .clientCertificate = failure {
            self = .notConnected(failure)
            return
        }
        let interrupted: TransferError =
            transfer.easy.number(CURLINFO_RESPONSE_CODE) > 0 ? .interrupted : .unanswered
        switch code {
        case CURLE_OPERATION_TIMEDOUT:
            self = .timedOut
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SEND_ERROR:
            self = interrupted
        case CURLE_WRITE_ERROR, CURLE_ABORTED_BY_CALLBACK:
            self = .tooLarge
        // A line of the head is longer than libcurl takes.
        case CURLE_OUT_OF_MEMORY where transfer.isSent, CURLcode.lineTooLong where transfer.isSent:
            self = .tooLarge
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
            self = .malformed
        default:
            switch failure {
            case .other where code == CURLE_RECV_ERROR: self = interrupted
            case .other where code != CURLE_COULDNT_CONNECT: self = .other(CurlError(code))
            case let error: self = .notConnected(error)
            }
        }
    }
}

/// A member of ``TransferError`` of a type of libcurl's would keep other modules, which do not know that, from being optimised with it.
extension CURLcode {
    /// `CURLE_TOO_LARGE` of libcurl 8.6 and later; those before say `CURLE_OUT_OF_MEMORY`.
    fileprivate static let lineTooLong = CURLcode(100)
}
