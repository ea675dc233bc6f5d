// SPDX-License-Identifier: Apache-2.0

internal import JSON

/// What the status says of one route of the configuration.
package struct RouteStatus: Equatable, Sendable {
    /// The `path` as configured.
    package let path: String
    /// The upstream as configured.
    package let upstream: String
    /// The identity whose token it injects; nil when it injects none.
    package let identity: String?
    /// What goes on at routes of this path; nil when no daemon runs.
    package var figures: RouteFigures?

    /// What stands for an identity where there is none.
    private static let noIdentity = "none"

    package init(path: String, upstream: String, identity: String?) {
        self.path = path
        self.upstream = upstream
        self.identity = identity
    }

    /// Reads what ``json`` wrote.
    init?(_ json: JSONValue) {
        guard let path = json[AdminMember.path]?.string, let upstream = json[AdminMember.upstream]?.string
        else {
            return nil
        }
        let identity = json[AdminMember.identity]?.string
        self.init(path: path, upstream: upstream, identity: identity == Self.noIdentity ? nil : identity)
    }

    /// One entry of `routes`.
    var json: JSONValue {
        var entry: JSONObject = [
            AdminMember.path: .string(path), AdminMember.upstream: .string(upstream),
            AdminMember.identity: .string(identity ?? Self.noIdentity),
        ]
        for (name, value) in figures?.members ?? [] { entry[name] = value }
        return .object(entry)
    }
}
