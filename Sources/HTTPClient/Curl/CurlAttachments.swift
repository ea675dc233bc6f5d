// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdSystem
internal import BearerdTLS
internal import CBearerdLibcurl
internal import CBearerdOpenSSL
internal import Glibc

/// The objects to which one easy handle's options point.
final class CurlAttachments {
    /// The `errno` with which the last socket failed, which libcurl forgets; 0 if there was no failure.
    var socketError: CInt = 0

    /// Called once, when libcurl opens its first socket and has therefore resolved the name.
    ///
    /// It must not call libcurl.
    var onResolved: (() -> Void)?

    /// The port for which the last socket was opened; 0 before the first.
    var port: UInt16 = 0

    /// True if connections may only go to this machine or its own link.
    var staysNearby = false
    /// True if an address was refused because of ``staysNearby``.
    var wasTooFar = false

    /// The forward proxy; if it is the environment's, `no_proxy` may exempt the server.
    var proxy: ProxyServer?

    /// True once TLS with the server itself has begun, beyond any proxy.
    var hasMetServer = false { didSet { onMeeting?() } }
    /// Called when ``hasMetServer`` becomes true; it must not call libcurl.
    var onMeeting: (() -> Void)?

    /// The alert about our certificate with which the server has ended TLS; in TLS 1.3 it comes when the handshake is done for us.
    var certificateAlert: CertificateAlert? { alertNote?.alert.flatMap { CertificateAlert(rawValue: $0) } }
    /// True if the server has ended TLS because it speaks none of the protocols that were offered (RFC 7301 §3.2).
    var hasNoCommonProtocol: Bool { alertNote?.alert == UInt8(TLS1_AD_NO_APPLICATION_PROTOCOL) }
    /// Where OpenSSL's callback notes it; a context keeps it, too, because libcurl may have a connection outlive its transfer.
    var alertNote: AlertNote?

    /// A note of the alert with which a server has ended TLS.
    final class AlertNote {
        var alert: UInt8?
    }

    /// The protocols that TLS with the server offers; nil for libcurl's own.
    var offer: ProtocolOffer?

    /// The certificates for TLS, in memory.
    ///
    /// libcurl would read files on the loop and block it if a file system does not respond.
    var transport: Transport?

    /// A socket that was connected outside libcurl.
    enum Connected {
        /// It waits for libcurl and is closed by this object.
        case waiting(Int32)
        /// libcurl owns it.
        case taken
    }

    /// The socket that libcurl gets instead of opening its own; nil lets it open one.
    var connected: Connected?

    /// The socket that libcurl opened last and owns.
    var socket: Int32 = -1
    /// The users one of whom must listen at the request's Unix socket; nil allows any user.
    var owners: Set<UInt32>?
    /// The user who was found to listen there and may not.
    var stranger: PeerUser?
    /// Asked right before the request is sent; nil lets it be sent.
    var maySend: (@Sendable () -> Bool)?
    /// True if ``maySend`` has withheld the request.
    var isWithheld = false

    private var heads: [UnsafeMutablePointer<curl_slist>] = []

    deinit {
        heads.forEach { curl_slist_free_all($0) }
        if case .waiting(let descriptor)? = connected { close(descriptor) }
    }

    /// Makes a list that lives as long as this object.
    ///
    /// - Throws: ``CurlError`` if memory is short.
    func list(of lines: [String]) throws(CurlError) -> UnsafeMutablePointer<curl_slist>? {
        var head: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let longer = curl_slist_append(head, line) else {
                curl_slist_free_all(head)
                throw CurlError(CURLE_OUT_OF_MEMORY)
            }
            head = longer
        }
        if let head { heads.append(head) }
        return head
    }
}
