// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

/// bearerd behind HTTPS, with a certificate of a test's own authority.
final class SecureSite: Sendable {
    let authority: TLSAuthority
    let sidecar: Sidecar
    let directory: TemporaryDirectory

    /// - Parameters:
    ///   - clientAuthority: whose certificates clients need; nil for none.
    ///   - tls: lines of the section `tls`.
    ///   - top: lines at the top level.
    init(
        upstream: RawUpstream? = nil, clientAuthority: TLSAuthority? = nil, listen: String = "127.0.0.1:0",
        route: String = "", tls: String = "", top: String = ""
    ) throws {
        let authority = try TLSAuthority()
        let directory = try TemporaryDirectory()
        self.authority = authority
        self.directory = directory
        try Self.install(authority.certificate(), in: directory)
        if let clientAuthority { try Self.install(clientAuthority, in: directory) }
        let clients = clientAuthority == nil ? "" : "client_ca_file: \(directory.path("clients.pem"))"
        sidecar = try Sidecar(
            upstream: upstream, directory: directory,
            .init(
                top: """
                    tls:
                      certificate_file: \(directory.path("server.pem"))
                      key_file: \(directory.path("server.key"))
                    \(indented(clients, by: 2))
                    \(indented(tls, by: 2))
                    \(top)
                    """, route: route, listen: listen))
    }

    /// Puts a certificate and its key where bearerd reads them.
    func install(_ files: (certificateFile: String, keyFile: String)) throws {
        try Self.install(files, in: directory)
    }

    /// Puts the authority of clients where bearerd reads it.
    func install(_ authority: TLSAuthority) throws { try Self.install(authority, in: directory) }

    private static func install(
        _ files: (certificateFile: String, keyFile: String), in directory: TemporaryDirectory
    ) throws {
        try directory.write("server.key", bytes: TemporaryDirectory.contents(of: files.keyFile))
        try directory.write("server.pem", bytes: TemporaryDirectory.contents(of: files.certificateFile))
    }

    private static func install(_ authority: TLSAuthority, in directory: TemporaryDirectory) throws {
        try directory.write(
            "clients.pem", bytes: TemporaryDirectory.contents(of: authority.certificateFile))
    }

    /// A client that trusts the site's authority, or another.
    func tls(
        trusting other: TLSAuthority? = nil, certificate: (certificateFile: String, keyFile: String)? = nil,
        protocols: [String] = [], highest: Int32 = 0
    ) throws -> TLSClient {
        try TLSClient(
            trusting: (other ?? authority).certificateFile, certificate: certificate, protocols: protocols,
            highest: highest)
    }

    /// A new connection.
    func client(_ tls: TLSClient? = nil, receiveBuffer: Int32? = nil) throws -> RawClient {
        try RawClient(to: sidecar.bearerd.proxy, over: tls ?? self.tls(), receiveBuffer: receiveBuffer)
    }

    /// A GET on a connection of its own.
    func get(
        _ target: String = "/", _ fields: [(String, String)] = [], _ tls: TLSClient? = nil
    ) throws -> RawResponse {
        try client(tls).request("GET", target, fields)
    }

    /// Whether a connection of this client comes to an answer.
    func serves(_ tls: TLSClient) throws -> Bool {
        do {
            return try get("/", [], tls).status == 200
        } catch is SocketError {
            return false
        } catch is WireError {
            return false
        }
    }

    /// How often there was no TLS connection.
    func refusals() throws -> Double {
        try sidecar.metrics().sum("bearerd_denied_total", #"reason="tls""#)
    }
}
