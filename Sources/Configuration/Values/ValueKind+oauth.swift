// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import OAuth

extension ValueKind<GrantType> {
    /// A grant's short name or URN.
    static var grantType: ValueKind {
        ValueKind { scalar throws(ValueError) in
            guard let grant = GrantType(configured: scalar.text) else {
                let hint = NearMiss.hint(for: scalar.text, among: GrantType.allConfigurable.map(\.shortName))
                throw ValueError("'\(scalar.written)' is not a grant\(hint)")
            }
            guard grant.feature?.isSupported ?? true else {
                throw ValueError("not supported yet: \(grant.shortName)")
            }
            return grant
        }
    }
}

extension GrantType {
    static let allConfigurable: [GrantType] = [
        .clientCredentials, .refreshToken, .authorizationCode, .deviceCode, .password, .jwtBearer,
        .tokenExchange,
    ]

    /// The part of bearerd that makes the grant.
    var feature: Feature? {
        switch self {
        case .authorizationCode: .browserLogin
        case .deviceCode: .deviceLogin
        case .password: .passwordGrant
        case .jwtBearer: .jwtBearerGrant
        case .tokenExchange: .tokenExchange
        default: nil
        }
    }
}

extension ValueKind<ClientAuthentication> {
    /// How the client proves itself.
    static var clientAuthentication: ValueKind {
        ValueKind { scalar throws(ValueError) in
            if let method = ClientAuthentication(rawValue: scalar.text) { return method }
            guard !methodsToCome.contains(scalar.text) else {
                throw ValueError("not supported yet: \(scalar.text)")
            }
            let words = ClientAuthentication.allCases.map(\.rawValue) + methodsToCome
            let hint = NearMiss.hint(for: scalar.text, among: words)
            throw ValueError("'\(scalar.written)' is not one of \(words.joined(separator: ", "))\(hint)")
        }
    }

    /// What the engine does not know yet.
    private static var methodsToCome: [String] {
        ["client_secret_jwt", "private_key_jwt", "tls_client_auth", "self_signed_tls_client_auth"]
    }
}

extension ValueKind<String> {
    /// A scope token (RFC 6749 §3.3).
    static var scopeToken: ValueKind {
        text.map { text throws(ValueError) in
            guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }) else {
                throw ValueError("is not a scope: printable ASCII without spaces, '\"' and '\\'")
            }
            return text
        }
    }

    /// A resource indicator: an absolute URI without a fragment (RFC 8707 §2).
    static var resource: ValueKind {
        text.map { text throws(ValueError) in
            let scheme = text.prefix { $0 != ":" }
            guard let first = scheme.utf8.first, first.isLetter, scheme.endIndex < text.endIndex,
                text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !text.contains("#")
            else { throw ValueError("is not an absolute URI without a fragment") }
            return text
        }
    }

    /// An issuer: a URL without query and fragment (RFC 8414 §2), kept exactly as written.
    static var issuer: ValueKind {
        ValueKind { scalar throws(ValueError) in
            guard let url = HTTPURL(scalar.text), url.scheme != .unix, url.query == nil else {
                throw ValueError("'\(scalar.written)' is not an http or https URL without a query")
            }
            return scalar.text
        }
    }
}
