// SPDX-License-Identifier: Apache-2.0

import Crypto
import JSON

extension StoredSession {
    /// The layout of the bytes; a reader refuses what it does not know.
    private static let version: Int64 = 1

    /// The members of the stored object.
    private enum Member: String {
        case version
        case identity
        case generation
        case binding
        case accessToken = "access_token"
        case accessTokenGeneration = "access_token_generation"
        case accessTokenRequest = "access_token_request"
        case expiresAtMilliseconds = "expires_at_ms"
        case lifetimeMilliseconds = "lifetime_ms"
        case refreshToken = "refresh_token"
        case idToken = "id_token"
        case scope
        case refusal
        case lastRefreshMilliseconds = "last_refresh_ms"
        case basicEncoding = "basic_encoding"
        case importedToken = "imported_token"
    }

    /// The session as JSON, tokens in the clear.
    package func encoded() -> [UInt8] {
        var object = JSONObject()
        func put(_ member: Member, _ value: JSONValue?) { object[member.rawValue] = value }
        put(.version, .integer(Self.version))
        put(.identity, .string(identity))
        put(.generation, .integer(Int64(generation)))
        put(.binding, .string(binding))
        if let accessToken {
            put(.accessToken, .string(accessToken.token.withPlaintext { $0 }))
            put(.accessTokenGeneration, .integer(Int64(accessToken.generation)))
            put(.accessTokenRequest, .string(accessToken.request))
            put(.expiresAtMilliseconds, .integer(accessToken.expiresAt.sinceEpoch.wholeMilliseconds))
            put(.lifetimeMilliseconds, .integer(accessToken.lifetime.wholeMilliseconds))
        }
        put(.refreshToken, refreshToken.map { .string($0.withPlaintext { $0 }) })
        put(.idToken, idToken.map { .string($0.withPlaintext { $0 }) })
        put(.scope, .array(scope.map(JSONValue.string)))
        put(.refusal, refusal.map { .string($0.rawValue) })
        put(.lastRefreshMilliseconds, lastRefresh.map { .integer($0.sinceEpoch.wholeMilliseconds) })
        put(.basicEncoding, basicEncoding.map { .string($0.rawValue) })
        put(.importedToken, importedToken.map { .string($0) })
        return object.serialized(pretty: true)
    }

    /// Reads what ``encoded()`` wrote.
    ///
    /// - Returns: nil if the bytes are damaged or of a later layout.
    package init?(decoding bytes: [UInt8]) {
        guard let object = try? JSONObject(parsing: bytes) else { return nil }
        func string(_ member: Member) -> String? { object[member.rawValue]?.string }
        func integer(_ member: Member) -> Int64? { object[member.rawValue]?.integer }
        func secret(_ member: Member) -> Secret? { string(member).flatMap { $0.isEmpty ? nil : Secret($0) } }

        guard integer(.version) == Self.version,
            let identity = string(.identity), let binding = string(.binding),
            let generation = integer(.generation).flatMap(Int.init(exactly:)), generation >= 0,
            generation < .max / 2
        else { return nil }
        self.init(identity: identity, generation: generation, binding: binding)

        if let token = secret(.accessToken), let generation = integer(.accessTokenGeneration),
            let request = string(.accessTokenRequest),
            let expiry = Duration(storedMilliseconds: integer(.expiresAtMilliseconds)),
            let lifetime = Duration(storedMilliseconds: integer(.lifetimeMilliseconds))
        {
            accessToken = StoredAccessToken(
                token: token, generation: Int(clamping: generation), expiresAt: WallTime(sinceEpoch: expiry),
                lifetime: lifetime, request: request)
        }
        refreshToken = secret(.refreshToken)
        idToken = secret(.idToken)
        scope = object[Member.scope.rawValue]?.array?.compactMap(\.string) ?? []
        refusal = string(.refusal).flatMap(ErrorCode.init(rawValue:))
        lastRefresh = Duration(storedMilliseconds: integer(.lastRefreshMilliseconds)).map(
            WallTime.init(sinceEpoch:))
        basicEncoding = string(.basicEncoding).flatMap(BasicEncoding.init(rawValue:))
        importedToken = string(.importedToken)
    }
}

extension Duration {
    /// Rounded down, so that a stored token never seems to live longer than it does.
    fileprivate var wholeMilliseconds: Int64 {
        let parts = components
        return parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000
    }

    /// - Returns: nil for what no clock of ours ever showed; sums of such durations stay far from overflow.
    fileprivate init?(storedMilliseconds: Int64?) {
        guard let storedMilliseconds, 0...(1 << 50) ~= storedMilliseconds else { return nil }
        self = .milliseconds(storedMilliseconds)
    }
}
