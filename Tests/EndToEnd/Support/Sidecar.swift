// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// A bearerd daemon between a test's provider and upstream, with which most promises are tested.
///
/// Everything ends with the object.
final class Sidecar: Sendable {
    /// The parts of the configuration besides the addresses, each as YAML.
    struct Settings {
        /// Lines at the top level.
        var top = ""
        /// Lines of the identity `default`.
        var identity = ""
        /// Lines of the route `/`.
        var route = ""
        /// More routes: items of the list.
        var moreRoutes = ""
        /// More identities: members of the map.
        var moreIdentities = ""
        /// The admin listener, where commands are to find it by the daemon's own file.
        var adminListen = "127.0.0.1:0"
        /// Lines of the section `admin`.
        var admin = ""
        /// The data listener.
        var listen = "127.0.0.1:0"
        /// The `store` section; nil for a directory of the test's own.
        var store: String?
        /// The identity's grant.
        var grant = "client_credentials"
        /// True if the identity has the client secret.
        var hasSecret = true
    }

    /// Its client secret.
    let clientSecret: String
    let directory: TemporaryDirectory
    let provider: HostileProvider
    let upstream: RawUpstream
    let bearerd: BearerdProcess

    init(
        provider: HostileProvider? = nil, upstream: RawUpstream? = nil,
        directory: TemporaryDirectory? = nil, clientSecret: String = "secret-" + randomText(),
        environment: [String: String] = [:], launcher: [String] = [], _ settings: Settings = Settings()
    ) throws {
        self.clientSecret = clientSecret
        self.provider = try provider ?? HostileProvider()
        self.upstream = try upstream ?? RawUpstream()
        self.directory = try directory ?? TemporaryDirectory()
        bearerd = try BearerdProcess(
            configuration: Sidecar.configuration(
                provider: self.provider, upstream: self.upstream.url, clientSecret: clientSecret,
                directory: self.directory, settings),
            in: self.directory, environment: environment, launcher: launcher)
    }

    /// Writes a configuration into a directory and returns its path; without an upstream nothing answers
    /// there.
    @discardableResult
    static func file(
        provider: HostileProvider, upstream: String = "http://127.0.0.1:1", clientSecret: String = "fake",
        directory: TemporaryDirectory, _ settings: Settings = Settings()
    ) throws -> String {
        try directory.write(
            "config.yaml",
            configuration(
                provider: provider, upstream: upstream, clientSecret: clientSecret, directory: directory,
                settings))
    }

    /// The text of a configuration.
    static func configuration(
        provider: HostileProvider, upstream: String, clientSecret: String, directory: TemporaryDirectory,
        _ settings: Settings = Settings()
    ) -> String {
        """
        listen: \(settings.listen)
        admin:
          listen: \(settings.adminListen)
        \(indented(settings.admin, by: 2))
        identities:
          default:
            issuer: \(provider.issuer)
            client_id: legacy-app
        \(settings.hasSecret ? "    client_secret: \(clientSecret)" : "")
            grant_type: \(settings.grant)
        \(indented(settings.identity, by: 4))
        \(indented(settings.moreIdentities, by: 2))
        routes:
          - path: /
            upstream: \(upstream)
            identity: default
        \(indented(settings.route, by: 4))
        \(indented(settings.moreRoutes, by: 2))
        store:
        \(indented(settings.store ?? "type: file\ndirectory: \(directory.path("store"))", by: 2))
        \(settings.top)
        """
    }

    /// The store's directory, unless the settings name another.
    var storeDirectory: String { directory.path("store") }

    /// A new connection to the data listener.
    func client(receiveBuffer: Int32? = nil) throws -> RawClient {
        try RawClient(to: bearerd.proxy, receiveBuffer: receiveBuffer)
    }

    /// A GET on a connection of its own.
    func get(_ target: String = "/", _ fields: [(String, String)] = []) throws -> RawResponse {
        try client().request("GET", target, fields)
    }

    /// A request to the admin listener.
    func admin(
        _ method: String, _ target: String, _ fields: [(String, String)] = []
    ) throws -> RawResponse {
        try RawClient(to: bearerd.admin).request(method, target, fields)
    }

    /// Writes a configuration of other settings and has it taken over.
    func reload(to settings: Settings) throws {
        try Self.file(
            provider: provider, upstream: upstream.url, clientSecret: clientSecret, directory: directory,
            settings)
        let answer = try admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        #expect(answer.status == 200, "\(answer.text)")
    }

    /// An action on the identity `default`, such as `refresh`.
    @discardableResult
    func act(_ action: String) throws -> RawResponse {
        try RawClient(to: bearerd.admin).request(
            "POST", "/api/identities/default/\(action)", [("X-Bearerd-Admin", "1")], body: "")
    }

    /// A scrape.
    func metrics() throws -> Metrics { Metrics(parsing: try admin("GET", "/metrics").text) }

    /// The status of the identity `default` in `/api/status`.
    func identityStatus() throws -> TestJSON {
        try admin("GET", "/api/status").json["identities"].array.first { $0["name"].string == "default" }
            ?? .null
    }

    /// The `state` of the identity `default`.
    func state() throws -> String { try identityStatus()["state"].string ?? "" }

    /// Waits for the first token.
    func awaitToken() throws {
        try eventually("a token") {
            try identityStatus()["generation"].number ?? 0 > 0 && state() == "authorized"
        }
    }
}

/// Returns true if `body` takes less than `limit` in one of twenty attempts; it calls its argument to start
/// the clock.
///
/// A busy machine is late now and then; a broken daemon is late every time.
func isOnce(within limit: Duration, _ body: (_ begin: () -> Void) throws -> Void) throws -> Bool {
    for _ in 0..<20 {
        var start = ContinuousClock.now
        try body { start = .now }
        if ContinuousClock.now - start < limit { return true }
    }
    return false
}

/// The lines of a text, indented.
func indented(_ text: String, by count: Int) -> String {
    text.split(separator: "\n").map { String(repeating: " ", count: count) + $0 }.joined(separator: "\n")
}
