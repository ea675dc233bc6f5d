// SPDX-License-Identifier: Apache-2.0

import CBearerdOpenSSL
import Glibc

/// A client's side of TLS; makes TLS streams of new connections.
package final class TLSClient: @unchecked Sendable {
    // An SSL_CTX may be used by several threads once it is set up (SSL_CTX_new(3)).
    private let context: OpaquePointer
    private let name: String

    /// Trusts `authority`, a PEM file, alone, and expects a certificate for `name`.
    ///
    /// - Parameters:
    ///   - certificate: shown if the server asks for one.
    ///   - protocols: offered by ALPN; none offers nothing.
    ///   - highest: the latest version that is spoken; 0 for the library's own.
    package init(
        trusting authority: String, name: String = "localhost",
        certificate: (certificateFile: String, keyFile: String)? = nil, protocols: [String] = [],
        highest: Int32 = 0
    ) throws {
        signal(SIGPIPE, SIG_IGN)
        guard let context = SSL_CTX_new(TLS_client_method()),
            SSL_CTX_load_verify_locations(context, authority, nil) == 1
        else { throw WireError("TLS client set-up with \(authority)") }
        self.context = context
        self.name = name
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        _ = SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(highest), nil)
        // The protocol that is too old for the server must not be too old for the test.
        SSL_CTX_set_security_level(context, 0)
        let offer = protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        if !offer.isEmpty { SSL_CTX_set_alpn_protos(context, offer, UInt32(offer.count)) }
        guard let certificate else { return }
        guard SSL_CTX_use_certificate_chain_file(context, certificate.certificateFile) == 1,
            SSL_CTX_use_PrivateKey_file(context, certificate.keyFile, SSL_FILETYPE_PEM) == 1
        else { throw WireError("TLS client set-up with \(certificate)") }
    }

    deinit { SSL_CTX_free(context) }

    /// Connects, with `receiveBuffer` bytes of kernel buffer if given, and agrees on keys.
    package func connect(to address: Address, receiveBuffer: Int32? = nil) throws -> any ByteStream {
        let socket = try Socket.connected(to: address, receiveBuffer: receiveBuffer)
        guard let session = SSL_new(context) else { throw WireError("SSL_new") }
        SSL_set1_host(session, name)
        SSL_set_connect_state(session)
        let stream = TLSStream(session, socket)
        try stream.handshake()
        return stream
    }

    /// The versions of TLS, as OpenSSL numbers them.
    package static let tls11 = TLS1_1_VERSION
    package static let tls12 = TLS1_2_VERSION
    package static let tls13 = TLS1_3_VERSION
}
