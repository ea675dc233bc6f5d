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

    /// What stands for an identity where there is none.
    private static let noIdentity = "none"

    private enum Member {
        static let path = "path"
        static let upstream = "upstream"
        static let identity = "identity"
    }

    package init(path: String, upstream: String, identity: String?) {
        self.path = path
        self.upstream = upstream
        self.identity = identity
    }

    /// Reads what ``json`` wrote.
    init?(_ json: JSONValue) {
        guard let path = json[Member.path]?.string, let upstream = json[Member.upstream]?.string else {
            return nil
        }
        let identity = json[Member.identity]?.string
        self.init(path: path, upstream: upstream, identity: identity == Self.noIdentity ? nil : identity)
    }

    /// One entry of `routes`.
    var json: JSONValue {
        [
            Member.path: .string(path), Member.upstream: .string(upstream),
            Member.identity: .string(identity ?? Self.noIdentity),
        ]
    }
}
