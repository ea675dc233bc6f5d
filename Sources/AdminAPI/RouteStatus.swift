// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSON

/// A route in the status.
package struct RouteStatus: Equatable, Sendable {
    /// The requests that it takes.
    package let scope: RouteScope
    package let upstream: String
    /// The version of HTTP in which the upstream is spoken to, as `upstream_protocol` says it.
    package let upstreamProtocol: String
    /// The identity whose token it adds; nil for none.
    package let identity: String?
    /// The figures of routes with this path, and the state of this one's upstream; nil without a daemon.
    package var figures: RouteFigures?

    /// The word for no identity.
    private static let noIdentity = "none"

    /// The protocol of a daemon whose status names none.
    private static let http1 = "http1"

    package var path: String { scope.path }

    package init(path: String, upstream: String, upstreamProtocol: String? = nil, identity: String?) {
        self.init(
            RouteScope(path: path), upstream: upstream, upstreamProtocol: upstreamProtocol,
            identity: identity)
    }

    package init(
        _ scope: RouteScope, upstream: String, upstreamProtocol: String? = nil, identity: String?
    ) {
        self.scope = scope
        self.upstream = upstream
        self.upstreamProtocol = upstreamProtocol ?? Self.http1
        self.identity = identity
    }

    init?(_ json: JSONValue) {
        guard let scope = RouteScope(json), let upstream = json[.upstream]?.string else { return nil }
        let identity = json[.identity]?.string
        self.init(
            scope, upstream: upstream, upstreamProtocol: json[.upstreamProtocol]?.string,
            identity: identity == Self.noIdentity ? nil : identity)
        figures = RouteFigures(health: json)
    }

    /// The protocol in words for a person; nil for HTTP/1.1, which goes without saying.
    package var spokenProtocol: String? {
        switch upstreamProtocol {
        case Self.http1: nil
        case "h2": "HTTP/2"
        default: "HTTP/2 or HTTP/1.1"
        }
    }

    var json: JSONValue {
        var entry = JSONObject(admin: [
            .path: .string(path), .host: scope.host.map(JSONValue.string),
            .methods: scope.methods.isEmpty ? nil : .some(.array(scope.methods.map(JSONValue.string))),
            .listen: scope.listen.map(JSONValue.string), .upstream: .string(upstream),
            .upstreamProtocol: .string(upstreamProtocol),
            .identity: .string(identity ?? Self.noIdentity),
        ])
        for (name, value) in figures?.json ?? [:] { entry[name] = value }
        return .object(entry)
    }
}
