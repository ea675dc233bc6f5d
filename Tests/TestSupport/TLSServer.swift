// SPDX-License-Identifier: Apache-2.0

import CBearerdOpenSSL
import Glibc

/// A server's side of TLS, with a certificate; makes TLS streams of accepted sockets.
package final class TLSServer: @unchecked Sendable {
    // An SSL_CTX may be used by several threads once it is set up (SSL_CTX_new(3)).
    private let context: OpaquePointer

    /// Clients need a certificate that `clientAuthority`, a PEM file, leads to; nil asks for none.
    package init(certificateFile: String, keyFile: String, clientAuthority: String? = nil) throws {
        // OpenSSL writes with write(2), which knows no MSG_NOSIGNAL.
        signal(SIGPIPE, SIG_IGN)
        guard let context = SSL_CTX_new(TLS_server_method()),
            SSL_CTX_use_certificate_chain_file(context, certificateFile) == 1,
            SSL_CTX_use_PrivateKey_file(context, keyFile, SSL_FILETYPE_PEM) == 1
        else { throw WireError("TLS server set-up with \(certificateFile)") }
        if let clientAuthority {
            guard SSL_CTX_load_verify_locations(context, clientAuthority, nil) == 1 else {
                throw WireError("TLS server set-up with \(clientAuthority)")
            }
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
            SSL_CTX_set_session_id_context(context, "test", 4)
        }
        self.context = context
    }

    deinit { SSL_CTX_free(context) }

    /// Chooses of these protocols, each behind its length, and refuses clients that offer none of them (RFC 7301).
    package func choosing(_ protocols: StaticString) -> TLSServer {
        SSL_CTX_set_alpn_select_cb(
            context, bearerd_select_protocol, UnsafeMutableRawPointer(mutating: protocols.utf8Start))
        return self
    }

    /// Speaks TLS 1.2 at most, in which a handshake ends with the server's word.
    ///
    /// - Parameter ciphers: in OpenSSL's words; nil for those that it has by itself.
    package func speakingTLS12(with ciphers: String? = nil) -> TLSServer {
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        if let ciphers { SSL_CTX_set_cipher_list(context, ciphers) }
        return self
    }

    /// How many handshakes resumed a session.
    package var resumptions: Int { SSL_CTX_ctrl(context, SSL_CTRL_SESS_HIT, 0, nil) }

    /// The handshake on an accepted socket.
    func accept(_ socket: Socket) throws -> any ByteStream {
        guard let session = SSL_new(context) else { throw WireError("SSL_new") }
        SSL_set_accept_state(session)
        let stream = TLSStream(session, socket)
        try stream.handshake()
        return stream
    }
}

/// A TLS connection over a socket.
final class TLSStream: ByteStream, @unchecked Sendable {
    // An SSL must not be used by two threads at once: `lock` guards it. No lock is held while waiting.
    private let lock: Monitor<OpaquePointer>
    private let socket: Socket

    init(_ session: OpaquePointer, _ socket: Socket) {
        lock = Monitor(session)
        self.socket = socket
        SSL_set_fd(session, socket.descriptor)
    }

    deinit { lock.withLock { SSL_free($0) } }

    func handshake() throws { try repeating("SSL_do_handshake", within: patience) { SSL_do_handshake($0) } }

    func read(upTo limit: Int, within time: Duration) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = try repeating("SSL_read", within: time) { SSL_read($0, &bytes, Int32(limit)) }
        return Array(bytes[..<count])
    }

    func write(_ bytes: [UInt8], within time: Duration) throws {
        if bytes.isEmpty { return }
        var sent = 0
        while sent < bytes.count {
            let part = Array(bytes[sent..<min(sent + 16384, bytes.count)])
            sent += try repeating("SSL_write", within: time) { SSL_write($0, part, Int32(part.count)) }
        }
    }

    /// Changes the keys so many times, one message after the other.
    func updateKeys(_ times: Int) throws {
        for _ in 0..<times {
            try repeating("SSL_key_update", within: patience) { session in
                SSL_key_update(session, SSL_KEY_UPDATE_REQUESTED) == 1 ? SSL_do_handshake(session) : -1
            }
        }
    }

    func finishWriting() { _ = lock.withLock { SSL_shutdown($0) } }

    func close() {
        finishWriting()
        socket.close()
    }

    func cut() { socket.close() }

    func reset() { socket.reset() }

    /// Repeats a call until it succeeds, waiting for the socket when it asks; 0 is the end of the stream.
    @discardableResult
    private func repeating(
        _ operation: String, within time: Duration, _ call: (OpaquePointer) -> Int32
    ) throws -> Int {
        while true {
            let (result, reason) = lock.withLock { session in
                ERR_clear_error()
                let result = call(session)
                return (result, SSL_get_error(session, result))
            }
            if result > 0 { return Int(result) }
            errno = EAGAIN
            switch reason {
            case SSL_ERROR_WANT_READ: try socket.wait(for: POLLIN, after: operation, within: time)
            case SSL_ERROR_WANT_WRITE: try socket.wait(for: POLLOUT, after: operation, within: time)
            case SSL_ERROR_ZERO_RETURN: return 0
            default: throw SocketError(operation: operation, code: ECONNRESET)
            }
        }
    }
}
