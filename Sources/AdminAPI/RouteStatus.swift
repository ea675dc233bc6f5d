// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSON

/// A route in the status.
package struct RouteStatus: Equatable, Sendable {
    package let path: String
    package let upstream: String
    /// The version of HTTP in which the upstream is spoken to, as `upstream_protocol` says it.
    package let upstreamProtocol: String
    /// The identity whose token it adds; nil for none.
    package let identity: String?
    /// The figures of routes with this path; nil without a daemon.
    package var figures: RouteFigures?

    /// The word for no identity.
    private static let noIdentity = "none"

    /// The protocol of a daemon whose status names none.
    private static let http1 = "http1"

    package init(path: String, upstream: String, upstreamProtocol: String? = nil, identity: String?) {
        self.path = path
        self.upstream = upstream
        self.upstreamProtocol = upstreamProtocol ?? Self.http1
        self.identity = identity
    }

    init?(_ json: JSONValue) {
        guard let path = json[.path]?.string, let upstream = json[.upstream]?.string else { return nil }
        let identity = json[.identity]?.string
        self.init(
            path: path, upstream: upstream, upstreamProtocol: json[.upstreamProtocol]?.string,
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
            .path: .string(path), .upstream: .string(upstream),
            .upstreamProtocol: .string(upstreamProtocol),
            .identity: .string(identity ?? Self.noIdentity),
        ])
        for (name, value) in figures?.json ?? [:] { entry[name] = value }
        return .object(entry)
    }
}
