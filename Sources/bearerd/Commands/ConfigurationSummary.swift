// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdHTTPMessages
import BearerdJSON
import BearerdObservability
import BearerdRouting
import BearerdTLS
import OAuth

/// The summary that `check` prints: listeners, identities and the route table.
struct ConfigurationSummary {
    private let configuration: Configuration

    init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// The summary for people, without any secret.
    var text: String {
        [addresses, identities, routes, callouts].filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private var addresses: String {
        var lines = configuration.listeners.map { listener in
            "listen  \(scheme(of: listener.address))\(listener.address) (\(listener.spokenProtocols))"
        }
        if let tls = configuration.tls { lines.append(contentsOf: text(of: tls)) }
        lines.append("admin   \(configuration.admin?.listen.description ?? "none")")
        lines.append("store   \(configuration.store.description)")
        let sandbox =
            configuration.runsCommands
            ? "off: the commands of on_state_change could not run in it"
            : "on, as far as the kernel has Landlock"
        lines.append("sandbox \(sandbox)")
        return Self.text(of: lines)
    }

    /// The scheme of a listener's URL; Unix sockets stay plain whatever `tls` says.
    private func scheme(of address: ListenAddress) -> String {
        guard case .tcp = address else { return "" }
        return configuration.tls == nil ? "http://" : "https://"
    }

    private func text(of tls: TLSConfiguration) -> [String] {
        let names = tls.certificate.names.isEmpty ? "nobody" : tls.certificate.names.joined(separator: ", ")
        let end = Timestamp.text(unixSeconds: tls.certificate.end)
        let clients = tls.clientAuthorityCount.map { count in
            "clients need a certificate of \(count == 1 ? "the authority" : "one of the \(count) authorities")"
                + " in \(tls.clientCAFile ?? "")"
                + (tls.clientNames.map { ", for one of the names \($0)" } ?? "")
        }
        return [
            "tls     a certificate for \(names), valid until \(end)",
            "        \(clients ?? "no client needs a certificate")",
        ]
    }

    private var identities: String {
        guard !configuration.identities.isEmpty else { return "" }
        var table = TextTable(["IDENTITY", "GRANT", "CLIENT", "PROVIDER"])
        for identity in configuration.identities {
            let client = identity.client
            table.append([
                identity.name, client.grantType.shortName, client.authentication.rawValue, identity.provider,
            ])
        }
        return table.text + commands + logins
    }

    /// The commands that print tokens, with their arguments.
    private var commands: String {
        Self.text(
            of: configuration.commandIdentities.compactMap { identity in
                guard case .command(let command)? = identity.client.source else { return nil }
                let words = command.words.map { JSONValue.string($0).line.dropLast() }.joined(separator: ", ")
                return "\(identity.name) runs [\(words)], outside of the sandbox"
            })
    }

    /// The redirect URIs to register at the provider for clients with which people log in.
    private var logins: String {
        let people = configuration.identities.filter { $0.client.grantType == .authorizationCode }
        return Self.text(
            of: people.flatMap { identity in
                let uri = identity.redirectURI
                let any = uri.port == 0 ? " (any port: RFC 8252; else give redirect_uri a fixed one)" : ""
                let command = "register \(uri.registered) as redirect URI of \(identity.name)\(any)"
                let page = configuration.admin.flatMap { identity.loginRedirect(to: $0.listen) }
                guard uri.port == 0, let page else { return [command] }
                return [
                    command,
                    "register \(page.registered) too where ports count, for logins on the admin listener",
                ]
            })
    }

    private var routes: String {
        var table = TextTable(["PATH", "HOST", "METHODS", "LISTEN", "IDENTITY", "UPSTREAM"])
        for route in configuration.routes {
            let methods = route.key.methods.map { $0.map(\.rawValue).sorted().joined(separator: ",") }
            table.append([
                route.key.path, route.key.host?.description ?? "any", methods ?? "any",
                route.key.listen?.description ?? "any",
                (route.identity ?? RouteConfiguration.noIdentity)
                    + (route.key.user.map { " for uid \($0)" } ?? "") + (route.target?.summary ?? ""),
                route.upstream.description + route.spokenProtocol,
            ])
        }
        return table.text
    }

    /// Warnings about settings that turn protections off.
    private var callouts: String {
        let development = configuration.development
        let skipping = configuration.identities.filter(\.transport.skipsVerification)
        let lines =
            [development.provider.map { "development.provider is on at \($0): not for production" }]
            + [development.api.map { "development.api is on at \($0): not for production" }]
            + skipping.map { "insecure_skip_verify: nobody checks the certificate of \($0.name)'s provider" }
        return Self.text(of: lines.compactMap { $0.map { "warning: \($0)" } })
    }

    /// Joins lines, with line ends inside them escaped.
    private static func text(of lines: [String]) -> String {
        lines.map { $0.printable + "\n" }.joined()
    }
}

extension StoreConfiguration {
    fileprivate var description: String {
        switch self {
        case .file(let directory, let key): key == nil ? directory : "\(directory), encrypted"
        case .memory: "memory"
        case .redis(let redis):
            redis.sentinels.isEmpty
                ? "\(redis.location), encrypted"
                : "master '\(redis.masterName)' of \(redis.sentinels.count) sentinels, encrypted"
        }
    }
}

extension TokenTarget {
    /// The route's own target, shown after the identity's name.
    fileprivate var summary: String {
        let parts = parts.map { name, words in
            "\(name): \(words.isEmpty ? "none" : words.joined(separator: " "))"
        }
        return " (\(parts.joined(separator: ", ")))"
    }
}

extension IdentityConfiguration {
    /// The issuer, or another URL of the provider.
    var provider: String {
        if let source = client.source { return source.description }
        return client.issuer ?? client.discoveryURL?.description ?? client.endpoints[.token]?.description
            ?? ""
    }
}
