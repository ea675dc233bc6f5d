// SPDX-License-Identifier: Apache-2.0

/// The keys of `identities.NAME`.
enum IdentityKey: String, ConfigurationKey {
    case issuer
    case discoveryURL = "discovery_url"
    case connectTo = "connect_to"
    case authorizationEndpoint = "authorization_endpoint"
    case tokenEndpoint = "token_endpoint"
    case deviceAuthorizationEndpoint = "device_authorization_endpoint"
    case userinfoEndpoint = "userinfo_endpoint"
    case revocationEndpoint = "revocation_endpoint"
    case endSessionEndpoint = "end_session_endpoint"
    case registrationEndpoint = "registration_endpoint"
    case introspectionEndpoint = "introspection_endpoint"
    case pushedAuthorizationRequestEndpoint = "pushed_authorization_request_endpoint"
    case keysURI = "jwks_uri"
    case allowInsecureProvider = "allow_insecure_provider"
    case preset
    case clientID = "client_id"
    case clientSecret = "client_secret"
    case tokenEndpointAuthMethod = "token_endpoint_auth_method"
    case basicEncoding = "basic_encoding"
    case assertionAudience = "assertion_audience"
    case assertionClaims = "assertion_claims"
    case assertionFile = "assertion_file"
    case assertionCertificateFile = "assertion_certificate_file"
    case subject
    case privateKeyFile = "private_key_file"
    case privateKeyID = "private_key_id"
    case signingAlgorithm = "signing_alg"
    case grantType = "grant_type"
    case username
    case password
    case subjectToken = "subject_token"
    case subjectTokenFile = "subject_token_file"
    case subjectTokenType = "subject_token_type"
    case requestedTokenType = "requested_token_type"
    case scope
    case scopeOnRefresh = "scope_on_refresh"
    case audience
    case resource
    case authorizationParameters = "authorization_params"
    case tokenParameters = "token_params"
    case tokenHeaders = "token_headers"
    case deviceAuthorizationParameters = "device_authorization_params"
    case revocationParameters = "revocation_params"
    case endSessionParameters = "end_session_params"
    case registrationParameters = "registration_params"
    case userinfoHeaders = "userinfo_headers"
    case postLogoutRedirectURI = "post_logout_redirect_uri"
    case redirectURI = "redirect_uri"
    case redirectListen = "redirect_listen"
    case initialAccessToken = "initial_access_token"
    case acceptTokenTypes = "accept_token_types"
    case refreshMargin = "refresh_margin"
    case defaultExpiresIn = "default_expires_in"
    case clockSkew = "clock_skew"
    case caFile = "ca_file"
    case clientCertificateFile = "client_certificate_file"
    case clientKeyFile = "client_key_file"
    case proxy
    case insecureSkipVerify = "insecure_skip_verify"
    case dpop
    case pushedAuthorizationRequests = "par"
    case profile
    case onStateChange = "on_state_change"
    case source
    case token
    case serviceAccount = "service_account"
    case appID = "app_id"
    case installationID = "installation_id"
    case api
    case repositories
    case permissions
    case command
    case timeout

    var isSecret: Bool {
        self == .clientSecret || self == .password || self == .initialAccessToken || self == .token
    }
}
