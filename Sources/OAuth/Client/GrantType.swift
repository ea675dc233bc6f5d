// SPDX-License-Identifier: Apache-2.0

/// A `grant_type`, spelled as on the wire (RFC 6749 §1.3 and its extensions).
public struct GrantType: RawRepresentable, Hashable, Sendable {
    /// The value of `grant_type`.
    public let rawValue: String

    /// A grant type, known or not.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// RFC 6749 §4.4.
    public static let clientCredentials = GrantType(rawValue: "client_credentials")
    /// RFC 6749 §6; as a configured grant: a session that was imported.
    public static let refreshToken = GrantType(rawValue: "refresh_token")
    /// RFC 6749 §4.1.
    public static let authorizationCode = GrantType(rawValue: "authorization_code")
    /// RFC 6749 §4.3, forbidden by RFC 9700 §2.4.
    public static let password = GrantType(rawValue: "password")
    /// RFC 8628.
    public static let deviceCode = GrantType(rawValue: "urn:ietf:params:oauth:grant-type:device_code")
    /// RFC 7523.
    public static let jwtBearer = GrantType(rawValue: "urn:ietf:params:oauth:grant-type:jwt-bearer")
    /// RFC 8693.
    public static let tokenExchange = GrantType(rawValue: "urn:ietf:params:oauth:grant-type:token-exchange")

    /// True if only a person can begin the session.
    public var needsPerson: Bool {
        self == .authorizationCode || self == .deviceCode || self == .refreshToken
    }

    /// The name for configuration, logs and metrics: the raw value, or a short one for a URN.
    package var shortName: String {
        switch self {
        case .deviceCode: "device_code"
        case .jwtBearer: "jwt_bearer"
        case .tokenExchange: "token_exchange"
        default: rawValue
        }
    }

    /// The grant of a short name or URN in a configuration; nil for an unknown one.
    package init?(configured text: String) {
        let known: [GrantType] = [
            .clientCredentials, .refreshToken, .authorizationCode, .password, .deviceCode, .jwtBearer,
            .tokenExchange,
        ]
        guard let match = known.first(where: { $0.rawValue == text || $0.shortName == text }) else {
            return nil
        }
        self = match
    }
}
