// SPDX-License-Identifier: Apache-2.0

/// A source of access tokens in place of an authorization server, with its settings.
///
/// A session asks it as it would make a grant from configuration: no refresh token comes, and nobody logs in.
package enum TokenSource: Equatable, Sendable {
    /// A token that somebody else renews; `place` names its file or its key, for errors.
    case fixed(place: String)
    /// A user's name and password (RFC 7617).
    case basic(username: String)

    /// The names of the sources, as configured and as `grant` in metrics.
    package enum Name: String, CaseIterable, Sendable {
        case fixed = "static"
        case basic
    }

    package var name: Name {
        switch self {
        case .fixed: .fixed
        case .basic: .basic
        }
    }

    /// The name in the place of a grant, for logs and metrics.
    package var grantType: GrantType { GrantType(rawValue: name.rawValue) }

    /// The authentication scheme of its tokens where a route names none.
    package var scheme: String {
        switch self {
        case .basic: "Basic"
        case .fixed: "Bearer"
        }
    }

    /// Where the tokens come from, for people; no part of it is secret.
    package var description: String {
        switch self {
        case .fixed(let place): place
        case .basic(let username): "user \(username)"
        }
    }

    /// True if it is asked over TLS.
    package var usesTLS: Bool {
        switch self {
        case .fixed, .basic: false
        }
    }

    /// True if a changed credential file is a changed token.
    package var isReadFromFile: Bool {
        switch self {
        case .fixed, .basic: true
        }
    }
}

extension GrantType {
    /// True for the name of a source.
    package var isSource: Bool { TokenSource.Name(rawValue: rawValue) != nil }
}

extension ClientConfiguration {
    /// An identity whose tokens come from `source`.
    package init(name: String, source: TokenSource) {
        self.init(name: name, clientID: "", grantType: source.grantType)
        self.source = source
        needsNoClient = true
    }
}
