// SPDX-License-Identifier: Apache-2.0

/// What doctor looks at; the raw value is its name for programs, which stays.
enum CheckID: String, CaseIterable {
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
}

extension CheckID {
    /// True for a check of an identity that means something without an authorization server too.
    var concernsSources: Bool {
        switch self {
        case .discovery, .jwks, .clientAuth, .refreshToken, .redirectURI, .parDPoP: false
        case .config, .configModes, .store, .keyring, .clock, .dns, .tls, .token, .upstream,
            .proxyEnvironment,
            .descriptors, .sandbox, .systemd, .admin:
            true
        }
    }
}
