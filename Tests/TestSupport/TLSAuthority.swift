// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A certificate authority of the test's own, made by the `openssl` command.
package final class TLSAuthority: Sendable {
    private let directory: TemporaryDirectory

    /// The CA's certificate, as `ca_file` wants it.
    package var certificateFile: String { directory.path("ca.pem") }

    package init() throws {
        directory = try TemporaryDirectory()
        try openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=Test CA \(randomText())", "-addext", "basicConstraints=critical,CA:TRUE",
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

    /// A server's certificate for these names or addresses, and its key, in PEM files.
    ///
    /// - Parameter names: a kind of OpenSSL's before a colon, `email:` and `URI:`, is kept; none makes a certificate without
    ///   subjectAltName.
    package func certificate(
        for names: [String] = ["localhost"], subject: String = "test server", days: Int = 1
    ) throws -> (certificateFile: String, keyFile: String) {
        let name = "server-\(randomText())"
        var options = ["-days", "\(days)"]
        if !names.isEmpty {
            let extensions = try directory.write(name + ".ext", "subjectAltName=\(Self.list(names))\n")
            options += ["-extfile", extensions]
        }
        return try issue(name, to: subject, options)
    }

    /// A certificate that nobody but its own key has signed, and that key.
    package func selfSigned(for names: [String]) throws -> (certificateFile: String, keyFile: String) {
        let (key, certificate) = (directory.path("self.key"), directory.path("self.pem"))
        try openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=test server", "-addext", "subjectAltName=\(Self.list(names))",
            "-keyout", key, "-out", certificate,
        ])
        return (certificate, key)
    }

    private static func list(_ names: [String]) -> String {
        names.map { name in
            if name.hasPrefix("email:") || name.hasPrefix("URI:") { return name }
            return name.contains(":") || name.allSatisfy { $0.isNumber || $0 == "." }
                ? "IP:\(name)" : "DNS:\(name)"
        }.joined(separator: ",")
    }

    /// A client's certificate and its key, in PEM files.
    package func client() throws -> (certificateFile: String, keyFile: String) {
        try issue("client", to: "test client", ["-days", "1"])
    }

    /// A client's certificate that ends so many seconds from now, and its key.
    package func client(endingAfter seconds: Int) throws -> (certificateFile: String, keyFile: String) {
        let (key, request, certificate) = (
            directory.path("brief.key"), directory.path("brief.csr"), directory.path("brief.pem")
        )
        try openssl([
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
            "/CN=test client", "-keyout", key, "-out", request,
        ])
        try directory.write("index.txt", "")
        let settings = try directory.write(
            "ca.cnf",
            """
            [ca]
            default_ca = own
            [own]
            database = \(directory.path("index.txt"))
            new_certs_dir = \(directory.path)
            rand_serial = yes
            default_md = sha256
            policy = any
            [any]
            commonName = supplied
            """)
        // `openssl x509` of OpenSSL 3.0 knows days only.
        var end = time(nil) + seconds
        var parts = tm()
        gmtime_r(&end, &parts)
        var text = [CChar](repeating: 0, count: 16)
        strftime(&text, text.count, "%Y%m%d%H%M%SZ", &parts)
        try openssl([
            "ca", "-batch", "-notext", "-config", settings, "-cert", certificateFile, "-keyfile",
            directory.path("ca.key"), "-in", request, "-out", certificate, "-enddate",
            String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self),
        ])
        return (certificate, key)
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
