// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSON

/// A route in the status.
package struct RouteStatus: Equatable, Sendable {
    package let path: String
    package let upstream: String
    /// The identity whose token it adds; nil for none.
    package let identity: String?
    /// The figures of routes with this path; nil without a daemon.
    package var figures: RouteFigures?

    /// The word for no identity.
    private static let noIdentity = "none"

    package init(path: String, upstream: String, identity: String?) {
        self.path = path
        self.upstream = upstream
        self.identity = identity
    }

    init?(_ json: JSONValue) {
        guard let path = json[.path]?.string, let upstream = json[.upstream]?.string else { return nil }
        let identity = json[.identity]?.string
        self.init(path: path, upstream: upstream, identity: identity == Self.noIdentity ? nil : identity)
        figures = RouteFigures(health: json)
    }

    var json: JSONValue {
        var entry = JSONObject(admin: [
            .path: .string(path), .upstream: .string(upstream),
            .identity: .string(identity ?? Self.noIdentity),
        ])
        for (name, value) in figures?.json ?? [:] { entry[name] = value }
        return .object(entry)
    }
}
