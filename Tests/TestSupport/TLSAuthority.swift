// SPDX-License-Identifier: Apache-2.0

/// A certificate authority of the test's own, made by the `openssl` command.
package final class TLSAuthority: Sendable {
    private let directory: TemporaryDirectory

    /// The CA's certificate, as `ca_file` wants it.
    package var certificateFile: String { directory.path("ca.pem") }

    package init() throws {
        directory = try TemporaryDirectory()
        try openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=Test CA", "-addext", "basicConstraints=critical,CA:TRUE",
            "-addext", "keyUsage=critical,keyCertSign,cRLSign",
            "-keyout", directory.path("ca.key"), "-out", certificateFile,
        ])
    }

    /// A TLS server whose certificate is for these names only; it may want certificates of its clients.
    package func server(
        for names: [String] = ["localhost"], days: Int = 1, clientAuthority: String? = nil
    ) throws -> TLSServer {
        let (certificate, key) = try certificate(for: names, days: days)
        return try TLSServer(certificateFile: certificate, keyFile: key, clientAuthority: clientAuthority)
    }

    /// A server's certificate for these names or IPv4 addresses, and its key, in PEM files.
    package func certificate(
        for names: [String] = ["localhost"], days: Int = 1
    ) throws -> (certificateFile: String, keyFile: String) {
        let name = "server-\(names.joined(separator: "-"))-\(days)"
        let alternatives = names.map { $0.allSatisfy { $0.isNumber || $0 == "." } ? "IP:\($0)" : "DNS:\($0)" }
            .joined(separator: ",")
        let extensions = try directory.write(name + ".ext", "subjectAltName=\(alternatives)\n")
        return try issue(name, to: "test server", ["-days", "\(days)", "-extfile", extensions])
    }

    /// A client's certificate and its key, in PEM files.
    package func client() throws -> (certificateFile: String, keyFile: String) {
        try issue("client", to: "test client", ["-days", "1"])
    }

    /// Makes a key, and signs a certificate for it.
    ///
    /// - Parameter options: of `openssl x509`: how long it is good, and what else it says.
    private func issue(
        _ name: String, to subject: String, _ options: [String]
    ) throws -> (certificateFile: String, keyFile: String) {
        let (key, request, certificate) = (
            directory.path(name + ".key"), directory.path(name + ".csr"), directory.path(name + ".pem")
        )
        try openssl([
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
            "/CN=\(subject)", "-keyout", key, "-out", request,
        ])
        try openssl(
            [
                "x509", "-req", "-in", request, "-CA", certificateFile, "-CAkey", directory.path("ca.key"),
                "-set_serial", "\(UInt32.random(in: 1...UInt32.max))", "-out", certificate,
            ] + options)
        return (certificate, key)
    }
}
