// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages

extension ClientConfiguration {
    /// The longest duration that may be configured, ten years, so that sums do not overflow.
    static let longestLifetime: Duration = .seconds(315_360_000)

    /// The settings that contradict each other or the protocol, each as a sentence that begins with the property's name.
    public var problems: [String] {
        serverProblems + requestProblems + parameterProblems + lifetimeProblems
    }

    private var serverProblems: [String] {
        var problems: [String] = []
        if name.isEmpty { problems.append("name: is empty") }
        guard source == nil else { return problems }
        if issuer == nil, discoveryURL == nil, endpoints[.token] == nil, endpoints[.authorization] == nil {
            problems.append("issuer: is missing, and there is neither discoveryURL nor a token endpoint")
        }
        if let issuer, !WireGrammar.isIssuer(issuer) {
            problems.append("issuer: is not an http or https URL without a query")
        }
        var addresses = [("issuer", issuer.flatMap(HTTPURL.init)), ("discoveryURL", discoveryURL)]
        addresses += Endpoint.allCases.map { ("endpoints[.\($0)]", endpoints[$0]) }
        for (name, url) in addresses {
            guard let url, !isPermitted(url) else { continue }
            problems.append(
                "\(name): plain http off loopback shows the secret; it needs allowsInsecureProvider")
        }
        let isRegistrable = endpoints[.registration] != nil || issuer != nil || discoveryURL != nil
        if clientID.isEmpty, !needsNoClient, !isRegistrable {
            problems.append("clientID: is empty, and nobody is there to register with")
        }
        return problems
    }

    private var requestProblems: [String] {
        var problems: [String] = []
        if !scope.allSatisfy(WireGrammar.isScopeToken) {
            problems.append("scope: a token is printable ASCII without spaces, '\"' and '\\'")
        }
        for (name, values) in [("resource", resource), ("furtherResources", furtherResources)]
        where !values.allSatisfy(WireGrammar.isAbsoluteURI) {
            problems.append("\(name): is not an absolute URI without a fragment")
        }
        if let uri = postLogoutRedirectURI, !WireGrammar.isAbsoluteURI(uri) {
            problems.append("postLogoutRedirectURI: is not an absolute URI without a fragment")
        }
        if !audience.allSatisfy({ !$0.isEmpty && WireGrammar.isPlain($0) }) {
            problems.append("audience: is a text without control characters")
        }
        if grantType == .password, username?.isEmpty ?? true {
            problems.append("username: is missing, and the password grant needs it")
        }
        if grantType == .tokenExchange, subjectTokenType == nil {
            problems.append("subjectTokenType: is missing, and token exchange needs it")
        }
        let types = [("subjectTokenType", subjectTokenType), ("requestedTokenType", requestedTokenType)]
        for (name, type) in types where !(type.map(WireGrammar.isAbsoluteURI) ?? true) {
            problems.append("\(name): is not a URI")
        }
        let needsCertificate = authentication == .tlsClientAuth || authentication == .selfSignedTLSClientAuth
        if needsCertificate, !presentsCertificate {
            problems.append("authentication: \(authentication.rawValue) needs a client certificate")
        }
        if let algorithm = assertion.algorithm, JWSAlgorithm.symmetric.contains(algorithm) {
            problems.append("assertion.algorithm: is not one of a private key")
        }
        return problems
    }

    /// The problems of configured parameters and headers.
    var parameterProblems: [String] {
        func isAuthorization(_ name: String) -> Bool { AuthorizationParameter(rawValue: name) != nil }
        func isToken(_ name: String) -> Bool { TokenParameter(rawValue: name) != nil }
        func isLogout(_ name: String) -> Bool { LogoutParameter(rawValue: name) != nil }
        let parameters: [(String, [NamedValue], (String) -> Bool)] = [
            ("authorizationParameters", authorizationParameters, isAuthorization),
            ("tokenParameters", tokenParameters, isToken),
            ("deviceParameters", deviceParameters, { isAuthorization($0) || isToken($0) }),
            ("revocationParameters", revocationParameters, { isLogout($0) || isToken($0) }),
            ("endSessionParameters", endSessionParameters, isLogout),
            ("registrationParameters", registrationParameters, RegistrationMember.isBuiltIn),
        ]
        var problems: [String] = []
        for (property, values, isBuiltIn) in parameters {
            for value in values {
                if value.name.isEmpty {
                    problems.append("\(property): a parameter needs a name")
                } else if isBuiltIn(value.name) {
                    problems.append("\(property): '\(value.name)' clashes with a built-in parameter")
                }
            }
        }
        for parameter in authorizationParameters {
            if let objection = Self.objection(toAuthorization: parameter) {
                problems.append("authorizationParameters: '\(parameter.name)' \(objection)")
            }
        }
        for (property, headers) in [("tokenHeaders", tokenHeaders), ("userinfoHeaders", userinfoHeaders)] {
            for header in headers {
                if let problem = Self.problem(of: header) { problems.append("\(property): \(problem)") }
            }
        }
        return problems
    }

    /// Why a parameter of authorization requests cannot be used, as the end of a sentence about it; nil if it can.
    package static func objection(toAuthorization parameter: NamedValue) -> String? {
        IDTokenRules.objection(to: parameter)
    }

    private static func problem(of header: NamedValue) -> String? {
        guard let name = HTTPFields.Name(header.name) else {
            return "'\(header.name)' is not the name of a header"
        }
        if WireGrammar.builtInHeaders.contains(name) {
            return "'\(header.name)' clashes with a built-in header"
        }
        return WireGrammar.isPlain(header.value)
            ? nil : "the value of '\(header.name)' has control characters"
    }

    private var lifetimeProblems: [String] {
        let lifetimes: [(String, Duration, Duration)] = [
            ("defaultLifetime", defaultLifetime, .milliseconds(1)), ("clockSkew", clockSkew, .zero),
            ("tokenTimeLimit", tokenTimeLimit, .zero), ("refreshMargin", refreshMargin ?? .zero, .zero),
        ]
        return lifetimes.filter { $0.1 < $0.2 || $0.1 > Self.longestLifetime }
            .map { "\($0.0): is not between 0 and ten years" }
    }
}

extension ClientConfiguration {
    /// The secrets among the configured parameters and headers, such as an API key in `token_headers`.
    var listings: [SecretListing] {
        let said =
            tokenHeaders + userinfoHeaders + tokenParameters + authorizationParameters + deviceParameters
            + revocationParameters + endSessionParameters + registrationParameters
        return said.filter { AdditionalParameters.soundsSecret($0.name) }
            .map { SecretListing(Array($0.value.utf8)) }
    }
}
