// SPDX-License-Identifier: Apache-2.0

/// A check of `doctor`; the raw value is its stable name for programs.
enum CheckID: String, CaseIterable {
    case daemon
    case config
    case configModes = "config-modes"
    case store
    case keyring
    case clock
    case dns
    case tls
    case discovery
    case jwks
    case clientAuth = "client-auth"
    case token
    case refreshToken = "refresh-token"
    case redirectURI = "redirect-uri"
    case parDPoP = "par-dpop"
    case upstream
    case proxyEnvironment = "proxy-environment"
    case descriptors
    case sandbox
    case systemd
    case admin
    case listen

    /// The heading over the lines of a check.
    enum Group: String {
        case daemon
        case configuration
        case identities
        case routes
        case machine
    }

    var group: Group {
        switch self {
        case .daemon: .daemon
        case .config, .configModes, .store, .keyring: .configuration
        case .upstream: .routes
        case .clock, .dns, .tls, .discovery, .jwks, .clientAuth, .token, .refreshToken, .redirectURI,
            .parDPoP:
            .identities
        case .proxyEnvironment, .descriptors, .sandbox, .systemd, .admin, .listen: .machine
        }
    }

    /// How soon a failure is mended among others: causes come before what follows from them.
    var rank: Int {
        let causes: [CheckID] = [
            .config, .store, .keyring, .dns, .tls, .clock, .discovery, .clientAuth, .admin, .daemon, .listen,
        ]
        return causes.firstIndex(of: self) ?? causes.count
    }
}

extension CheckID {
    /// True for a check of an identity that means something without an authorization server too.
    var concernsSources: Bool {
        switch self {
        case .discovery, .jwks, .clientAuth, .refreshToken, .redirectURI, .parDPoP: false
        case .daemon, .config, .configModes, .store, .keyring, .clock, .dns, .tls, .token, .upstream,
            .proxyEnvironment, .descriptors, .sandbox, .systemd, .admin, .listen:
            true
        }
    }
}
