// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibcurl
package import BearerdHTTPExchange
package import BearerdSystem

/// Why no whole answer came.
///
/// No case holds anything that was sent or received.
package enum TransferError: Error, Equatable, Sendable {
    /// No connection could be made as configured: the request was not seen.
    case notConnected(UpstreamError)
    /// The other end of the connection is not held by one of those who may: the request was not sent.
    case foreign(PeerUser)
    /// The time limit passed with the request on its way: it may have been acted upon.
    case timedOut
    /// The connection ended before the answer did; the request may have been acted upon.
    case interrupted
    /// The head is larger than 64 KiB, or the body than the request allows.
    case tooLarge
    /// What came is not HTTP.
    case malformed
    /// The task that waited was cancelled.
    case cancelled
    case other(CurlError)

    /// Whether a certificate, the server's, a proxy's or ours, is at fault: asking again unchanged will not help.
    package var isCertificate: Bool {
        switch self {
        case .notConnected(let error): error.isOfCertificate
        case .timedOut, .interrupted, .tooLarge, .malformed, .cancelled, .foreign, .other: false
        }
    }

    /// Judges a transfer that has failed.
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
