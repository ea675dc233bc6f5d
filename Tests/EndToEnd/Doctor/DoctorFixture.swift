// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

/// A configuration in which all is well, with one thing changed, and what doctor says of it.
struct DoctorFixture {
    /// The result of running doctor.
    struct Result: CustomStringConvertible {
        let exit: Int32
        let output: String
        let isSuccess: Bool
        let checks: [TestJSON]

        var description: String { output }

        /// The only row of a check.
        subscript(id: String) -> TestJSON { checks.first { $0["id"].string == id } ?? .null }
        func result(of id: String) -> String? { self[id]["result"].string }
        func seen(by id: String) -> String { self[id]["seen"].string ?? "" }
        func fix(of id: String) -> String { self[id]["fix"].string ?? "" }
        /// Those that have failed, and those that warn.
        var troubled: [String] {
            checks.filter { ["fail", "warn"].contains($0["result"].string) }.compactMap { $0["id"].string }
        }
    }

    let provider: HostileProvider
    let upstream: RawUpstream
    let directory: TemporaryDirectory
    var settings = Sidecar.Settings()
    /// Where the admin listener is configured.
    var admin = "127.0.0.1:0"

    init(provider: HostileProvider? = nil) throws {
        self.provider = try provider ?? HostileProvider()
        upstream = try RawUpstream()
        directory = try TemporaryDirectory()
        self.provider.serve("GET", "/jwks") { _ in .json(#"{"keys":[{"kty":"RSA"}]}"#) }
        settings.top = "limits: {connections: 100, upstream_connections: 10}"
    }

    /// The configuration file, written anew.
    func file() throws -> String {
        let text = Sidecar.configuration(
            provider: provider, upstream: upstream.url, clientSecret: "not-a-real-secret",
            directory: directory,
            settings)
        return try directory.write(
            "config.yaml", text.asking(admin)
        )
    }

    /// Runs doctor on it.
    func run(
        _ words: String..., environment: [String: String] = [:], launcher: [String] = []
    ) throws -> Result {
        try run(words, environment: environment, launcher: launcher)
    }

    /// Runs doctor with a list of arguments.
    func run(
        _ words: [String], environment: [String: String] = [:], launcher: [String] = []
    ) throws -> Result {
        let command = try launcher + [BearerdProcess.binary, "doctor", "--json", "-c", file()] + words
        let result = try Subprocess.run(command, environment: environment)
        guard case .exited(let code) = result.ending, let document = TestJSON(parsing: result.output) else {
            throw WireError("\(result)")
        }
        return Result(
            exit: code, output: result.output, isSuccess: document["success"] == .bool(true),
            checks: document["checks"].array)
    }
}
