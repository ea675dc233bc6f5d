// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// A source of access tokens in place of an authorization server, with its settings.
///
/// A session asks it as it would make a grant from configuration: no refresh token comes, and nobody logs in.
package enum TokenSource: Equatable, Sendable {
    /// A token that somebody else renews; `place` names its file or its key, for errors.
    case fixed(place: String)
    /// A user's name and password (RFC 7617).
    case basic(username: String)
    /// The metadata server of a machine at Google; `account` is a service account's name or mail address.
    case googleMetadata(server: HTTPURL, account: String)
    /// The managed identity of a machine or service at Microsoft Azure.
    case azureIdentity(AzureIdentity)
    /// An installation of an App at GitHub.
    case gitHubApp(GitHubApp)
    /// A program that prints a token.
    case command(TokenProgram)

    /// The names of the sources, as configured and as `grant` in metrics.
    package enum Name: String, CaseIterable, Sendable {
        case fixed = "static"
        case basic
        case googleMetadata = "google_metadata"
        case azureIdentity = "azure_identity"
        case gitHubApp = "github_app"
        case command
    }

    package var name: Name {
        switch self {
        case .fixed: .fixed
        case .basic: .basic
        case .googleMetadata: .googleMetadata
        case .azureIdentity: .azureIdentity
        case .gitHubApp: .gitHubApp
        case .command: .command
        }
    }

    /// The name in the place of a grant, for logs and metrics.
    package var grantType: GrantType { GrantType(rawValue: name.rawValue) }

    /// The authentication scheme of its tokens where a route names none.
    package var scheme: String {
        switch self {
        case .basic: "Basic"
        case .fixed, .googleMetadata, .azureIdentity, .gitHubApp, .command: "Bearer"
        }
    }

    /// Where the tokens come from, for people; no part of it is secret.
    package var description: String {
        switch self {
        case .fixed(let place): place
        case .basic: "a name and a password"
        case .googleMetadata(let server, let account): "\(account) at \(server.origin)"
        case .azureIdentity(let identity): identity.endpoint.origin
        case .gitHubApp(let app): "installation \(app.installationID) at \(app.api)"
        case .command(let command): command.words[0]
        }
    }

    /// The server that is asked; nil for a source without one.
    package var server: HTTPURL? {
        switch self {
        case .fixed, .basic, .command: nil
        case .googleMetadata(let server, _): server
        case .azureIdentity(let identity): identity.endpoint
        case .gitHubApp(let app): app.api
        }
    }

    /// True if plain HTTP may be spoken to its server, to which only an address of this machine or its own link leads.
    package var isNearby: Bool {
        switch self {
        case .googleMetadata, .azureIdentity: true
        case .fixed, .basic, .gitHubApp, .command: false
        }
    }

    /// True if a changed credential file is a changed token.
    package var isReadFromFile: Bool {
        switch self {
        case .fixed, .basic: true
        case .googleMetadata, .azureIdentity, .gitHubApp, .command: false
        }
    }

    /// The same source with the parameters of `target`, each in place of its own.
    func aimed(at target: TokenTarget) -> TokenSource {
        guard case .gitHubApp(var app) = self else { return self }
        app.repositories = target.repositories ?? app.repositories
        app.permissions = target.permissions ?? app.permissions
        return .gitHubApp(app)
    }
}

/// A managed identity of Microsoft Azure.
package struct AzureIdentity: Equatable, Sendable {
    /// The instance metadata service, or what `IDENTITY_ENDPOINT` names.
    package var endpoint: HTTPURL
    /// True for an endpoint of App Service or Container Apps, which wants `X-IDENTITY-HEADER`.
    package var isOfAppService: Bool
    /// The client of a user-assigned identity; nil for that of the machine.
    package var clientID: String?

    package init(endpoint: HTTPURL, isOfAppService: Bool, clientID: String?) {
        self.endpoint = endpoint
        self.isOfAppService = isOfAppService
        self.clientID = clientID
    }
}

/// An installation of a GitHub App, and what its tokens are for.
package struct GitHubApp: Equatable, Sendable {
    /// The App's number or client ID.
    package var appID: String
    package var installationID: String
    /// The root of the REST API.
    package var api: HTTPURL
    /// The names of repositories; empty for all of the installation's.
    package var repositories: [String] = []
    /// The permissions and their levels; empty for all of the installation's.
    package var permissions: [NamedValue] = []

    package init(appID: String, installationID: String, api: HTTPURL) {
        self.appID = appID
        self.installationID = installationID
        self.api = api
    }
}

/// A program that prints a token, without a shell.
package struct TokenProgram: Equatable, Sendable {
    /// The program and its arguments.
    package var words: [String]
    /// The program and all that it started are killed when this time is over.
    package var limit: Duration

    package init(words: [String], limit: Duration) {
        self.words = words
        self.limit = limit
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
