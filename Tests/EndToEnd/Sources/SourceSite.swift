// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

/// bearerd with an identity `default` whose tokens come from a source, and an upstream that keeps what it is sent.
final class SourceSite: Sendable {
    let directory: TemporaryDirectory
    let upstream: RawUpstream
    let bearerd: BearerdProcess

    /// - Parameters:
    ///   - identity: lines of the identity.
    ///   - route: lines of the route `/`.
    ///   - admin: the admin listener.
    init(
        identity: String, route: String = "", top: String = "", moreRoutes: String = "",
        admin: String = "127.0.0.1:0", directory: TemporaryDirectory, upstream: RawUpstream? = nil,
        environment: [String: String] = [:]
    ) throws {
        self.directory = directory
        self.upstream = try upstream ?? RawUpstream()
        bearerd = try BearerdProcess(
            configuration: Self.configuration(
                identity: identity, route: route, top: top, moreRoutes: moreRoutes,
                upstream: self.upstream.url, admin: admin),
            in: directory, environment: environment)
    }

    static func configuration(
        identity: String, route: String = "", top: String = "", moreRoutes: String = "",
        upstream: String = "http://127.0.0.1:1", admin: String = "127.0.0.1:0"
    ) -> String {
        """
        listen: 127.0.0.1:0
        admin:
          listen: \(admin)
        identities:
          default:
        \(indented(identity, by: 4))
        routes:
          - path: /
            upstream: \(upstream)
            identity: default
        \(indented(route, by: 4))
        \(indented(moreRoutes, by: 2))
        store: {type: memory}
        log: {level: trace}
        \(top)
        """
    }

    func get(_ target: String = "/", _ fields: [(String, String)] = []) throws -> RawResponse {
        try RawClient(to: bearerd.proxy).request("GET", target, fields)
    }

    func post(_ body: String) throws -> RawResponse {
        try RawClient(to: bearerd.proxy).request("POST", "/", body: body)
    }

    func admin(_ target: String) throws -> RawResponse {
        try RawClient(to: bearerd.admin).request("GET", target)
    }

    /// What `/api/status` says of the identity.
    func status() throws -> TestJSON { try admin("/api/status").json["identities"].array.first ?? .null }

    func state() throws -> String { try status()["state"].string ?? "" }

    /// The value of a token request's counter.
    func requests(_ grant: String, _ outcome: String = "success") throws -> Double {
        try Metrics(parsing: admin("/metrics").text).sum(
            "bearerd_token_requests_total", "grant=\"\(grant)\"", "outcome=\"\(outcome)\"")
    }

    /// All that the daemon has written or answered on its admin listener.
    func everythingShown() throws -> String {
        try bearerd.log + admin("/api/status").text + admin("/metrics").text + admin("/").text
            + admin("/readyz").text
    }

    /// Runs a command on the same configuration.
    func command(
        _ words: String..., environment: [String: String] = [:]
    ) throws -> (exit: Int32, output: String, errors: String) {
        let result = try Subprocess.run(
            [BearerdProcess.binary] + words + ["-c", directory.path("config.yaml")], environment: environment)
        guard case .exited(let code) = result.ending else { throw WireError("\(words): \(result.ending)") }
        return (code, result.output, result.errors)
    }
}
