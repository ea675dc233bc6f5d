// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdTLS
internal import CBearerdLibcurl
internal import CBearerdOpenSSL

/// A `CURLOPT_CONNECT_ONLY` connection whose TLS is libcurl's: `curl_easy_recv` and `curl_easy_send`.
final class CurlWire: Wire {
    private let transfer: CurlTransfer
    /// libcurl's `SSL *`, which lives as long as the handle is in its multi; nil for a plain connection.
    private let security: OpaquePointer?
    /// False if it is a proxy's, of whose protocols the server knows nothing.
    private let isSecurityOfServer: Bool
    private var easy: UnsafeMutableRawPointer { transfer.easy.handle }
    /// The first byte of a server that need not wait for the client to speak.
    private var firstByte: UInt8?

    /// Takes over a connection that libcurl has just opened.
    ///
    /// - Parameters:
    ///   - hasTLS: whether the server itself speaks TLS, beyond any proxy.
    ///   - speaksHTTP2: whether it speaks HTTP/2 without that being agreed on.
    /// - Returns: nil if the peer has already ended it, or sends before it was asked though it speaks no HTTP/2.
    init?(_ transfer: CurlTransfer, toServerWithTLS hasTLS: Bool, speaksHTTP2: Bool) {
        self.transfer = transfer
        isSecurityOfServer = hasTLS
        // The first receive ties the connection to its handle: until then libcurl may close it as idle.
        var byte: UInt8 = 0
        var count = 0
        let status = curl_easy_recv(transfer.easy.handle, &byte, 1, &count)
        var session: UnsafeMutablePointer<curl_tlssessioninfo>?
        bearerd_easy_getinfo_tls(transfer.easy.handle, &session)
        security = session?.pointee.internals.map { OpaquePointer($0) }
        guard status != CURLE_AGAIN else { return }
        // Over a cipher that HTTP/2 prohibits, too: whoever takes the connection judges that.
        let chosen = applicationProtocol
        guard status == CURLE_OK, count == 1, speaksHTTP2 || chosen == .http2 || chosen == .weakHTTP2 else {
            return nil
        }
        firstByte = byte
    }

    /// Always false: TLS may hold decrypted bytes of which the kernel does not know.
    var drainsOnShortReceive: Bool { false }

    func receive(into destination: UnsafeMutableRawBufferPointer) -> WireResult {
        if let byte = firstByte.take() {
            destination[0] = byte
            return .moved(1)
        }
        var count = 0
        let status = curl_easy_recv(easy, destination.baseAddress, destination.count, &count)
        switch status {
        case CURLE_OK where count > 0: return .moved(count)
        case CURLE_OK: return hasCloseNotify ? .end : .truncated
        case CURLE_AGAIN: return wants(SSL_WRITING) ? .wouldBlockOnWrite : .wouldBlockOnRead
        case CURLE_RECV_ERROR: return .failed(.reset)
        default: return .failed(.transport(code: Int32(status.rawValue)))
        }
    }

    func send(_ source: UnsafeRawBufferPointer) -> WireResult {
        var count = 0
        let status = curl_easy_send(easy, source.baseAddress, source.count, &count)
        switch status {
        case CURLE_OK: return .moved(count)
        case CURLE_AGAIN: return wants(SSL_READING) ? .wouldBlockOnRead : .wouldBlockOnWrite
        case CURLE_SEND_ERROR: return .failed(.reset)
        default: return .failed(.transport(code: Int32(status.rawValue)))
        }
    }

    func send(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ third: UnsafeRawBufferPointer
    ) -> WireResult { sendAsRecord(first, second, third) }

    var canEndSending: Bool { false }

    /// Does nothing, so that the peer learns of the end when the connection closes.
    ///
    /// libcurl has no call for TLS's half-close, and calling OpenSSL behind its back is not safe.
    func endSending() -> WireResult { .moved(0) }

    var applicationProtocol: ApplicationProtocol? {
        isSecurityOfServer ? security.flatMap { ProtocolOffer.chosen(on: $0) } : nil
    }

    /// Sends close_notify and closes the socket (`curl_multi_remove_handle`).
    func close() { transfer.end() }

    private var hasCloseNotify: Bool {
        guard let security else { return true }
        return SSL_get_shutdown(security) & SSL_RECEIVED_SHUTDOWN != 0
    }

    private func wants(_ direction: CInt) -> Bool {
        guard let security else { return false }
        return SSL_want(security) == direction
    }
}
