// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON

extension StoredSession {
    /// The layout of the bytes: a larger one is refused, and left as it is.
    ///
    /// A change that only adds members keeps the number.
    private static let version: Int64 = 1

    /// The members of the stored object.
    private enum Member: String, CaseIterable {
        case version
        case identity
        case generation
        case binding
        case origin
        case beganMilliseconds = "began_ms"
        case accessTokens = "access_tokens"
        case refreshToken = "refresh_token"
        case refreshOrigin = "refresh_origin"
        case proofKey = "proof_key"
        case idToken = "id_token"
        case loginClaims = "login_claims"
        case scope
        case loginScope = "login_scope"
        case isLoginScopeOwn = "own_login_scope"
        case refusal
        /// Written by earlier versions, which stopped refreshing for it; not kept.
        case barredRequests = "barred_requests"
        case lastRefreshMilliseconds = "last_refresh_ms"
        case basicEncoding = "basic_encoding"
        case importedToken = "imported_token"
        case earlierImports = "earlier_imports"
        case doubtedToken = "doubted_token"
        case isEndOnlyHere = "ended_only_here"
        case registration
        case grantClient = "grant_client"
        case person
        case pendingParameters = "pending_parameters"
        case additionalParameters = "additional_parameters"
        case pendingCode = "pending_code"
        case pendingRedirectURI = "pending_redirect_uri"
        case pendingVerifier = "pending_verifier"
        case pendingNonce = "pending_nonce"
        case pendingProofKey = "pending_proof_key"
        case pendingAdditions = "pending_additions"
        case pendingRequest = "pending_request"
        case pendingBinding = "pending_binding"
    }

    /// Stores read no record of any size.
    private static let mostBytes = 1 << 22

    /// The session as JSON, tokens in the clear.
    ///
    /// A record that could not be read again, by its size or its depth, is left without all that the next answer brings anew: the
    /// refresh token must last.
    public func encoded() -> [UInt8] {
        let whole = json.serialized(pretty: true)
        guard whole.count > Self.mostBytes || Self(decoding: whole) == nil else { return whole }
        var rest = self
        rest.accessTokens = []
        rest.additionalParameters = AdditionalParameters()
        return rest.json.serialized()
    }

    private var json: JSONObject {
        var object = unknownMembers
        func put(_ member: Member, _ value: JSONValue?) { object[member.rawValue] = value }
        put(.version, .integer(Self.version))
        put(.identity, .string(identity))
        put(.generation, .integer(Int64(generation)))
        put(.binding, .string(binding))
        put(.origin, .string(origin))
        put(.beganMilliseconds, began.map { .integer($0.sinceEpoch.wholeMilliseconds) })
        put(.accessTokens, .array(accessTokens.map(\.json)))
        put(.refreshToken, refreshToken.map { .string($0.withPlaintext { $0 }) })
        put(.refreshOrigin, refreshOrigin.map { .string($0) })
        put(.proofKey, proofKey.map { .string($0.privateJWK.withPlaintext { $0 }) })
        put(.idToken, idToken.map { .string($0.withPlaintext { $0 }) })
        put(.loginClaims, loginClaims.map { .object($0.json) })
        if let pendingCode {
            put(.pendingCode, .string(pendingCode.code.withPlaintext { $0 }))
            put(.pendingRedirectURI, .string(pendingCode.redirectURI))
            put(.pendingVerifier, .string(pendingCode.verifier.withPlaintext { $0 }))
            put(.pendingNonce, .string(pendingCode.nonce.withPlaintext { $0 }))
            let parameters = pendingCode.additionalParameters
            put(.pendingParameters, parameters.isEmpty ? nil : .object(parameters.members))
            put(.pendingProofKey, pendingCode.proofKey.map { .string($0.withPlaintext { $0 }) })
            put(.pendingAdditions, pendingCode.additions.json.map { .object($0) })
        }
        put(.pendingRequest, pendingRequest.map { .string($0.withPlaintext { $0 }) })
        put(.pendingBinding, pendingBinding.map { .string($0) })
        put(.scope, .array(scope.map(JSONValue.string)))
        put(.loginScope, loginScope.map { .array($0.map(JSONValue.string)) })
        put(.isLoginScopeOwn, isLoginScopeOwn ? .bool(true) : nil)
        put(.refusal, refusal.map { .string($0.rawValue) })
        put(.lastRefreshMilliseconds, lastRefresh.map { .integer($0.sinceEpoch.wholeMilliseconds) })
        put(.basicEncoding, basicEncoding.map { .string($0.rawValue) })
        put(.registration, registration.map { .object($0.json) })
        put(.grantClient, grantClient.map { .object($0.json) })
        put(.person, person.map { .object($0.json) })
        put(.importedToken, importedToken.map { .string($0) })
        put(.earlierImports, earlierImports.isEmpty ? nil : .array(earlierImports.map(JSONValue.string)))
        put(.doubtedToken, doubtedToken.map { .string($0) })
        put(.isEndOnlyHere, isEndOnlyHere ? .bool(true) : nil)
        put(
            .additionalParameters,
            additionalParameters.isEmpty ? nil : .object(additionalParameters.members))
        return object
    }

    /// Reads what ``encoded()`` wrote.
    ///
    /// - Returns: nil if the bytes are damaged or of a later layout.
    public init?(decoding bytes: [UInt8]) {
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
        origin = string(.origin) ?? ""
        began = Duration(storedMilliseconds: integer(.beganMilliseconds)).map(WallTime.init(sinceEpoch:))

        accessTokens = (object[Member.accessTokens.rawValue]?.array ?? []).compactMap(StoredAccessToken.init)
        refreshToken = secret(.refreshToken)
        refreshOrigin = string(.refreshOrigin)
        proofKey = secret(.proofKey).flatMap { try? ProofKey(parsing: $0) }
        idToken = secret(.idToken)
        loginClaims = object[Member.loginClaims.rawValue]?.object.flatMap(LoginClaims.init)
        if let code = secret(.pendingCode), let redirectURI = string(.pendingRedirectURI),
            let verifier = secret(.pendingVerifier), let nonce = secret(.pendingNonce)
        {
            pendingCode = AuthorizationCode(
                code: code, redirectURI: redirectURI, verifier: verifier, nonce: nonce)
            pendingCode?.additionalParameters = AdditionalParameters(
                object[Member.pendingParameters.rawValue]?.object ?? [:])
            pendingCode?.proofKey = secret(.pendingProofKey)
            pendingCode?.additions = LoginAdditions(object[Member.pendingAdditions.rawValue]?.object)
        }
        pendingRequest = string(.pendingRequest).flatMap {
            $0.isEmpty ? nil : Secret(unlisted: Array($0.utf8))
        }
        pendingBinding = string(.pendingBinding)
        scope = object[Member.scope.rawValue]?.array?.compactMap(\.string) ?? []
        loginScope = object[Member.loginScope.rawValue]?.array?.compactMap(\.string)
        isLoginScopeOwn = object[Member.isLoginScopeOwn.rawValue]?.bool ?? false
        refusal = string(.refusal).flatMap(ErrorCode.init(rawValue:))
        lastRefresh = Duration(storedMilliseconds: integer(.lastRefreshMilliseconds)).map(
            WallTime.init(sinceEpoch:))
        basicEncoding = string(.basicEncoding).flatMap(BasicEncoding.init(rawValue:))
        registration = object[Member.registration.rawValue]?.object.flatMap(ClientRegistration.init)
        grantClient = object[Member.grantClient.rawValue]?.object.flatMap(ClientRegistration.init)
        person = object[Member.person.rawValue]?.object.map(Person.init)
        importedToken = string(.importedToken)
        earlierImports = object[Member.earlierImports.rawValue]?.array?.compactMap(\.string) ?? []
        doubtedToken = string(.doubtedToken)
        isEndOnlyHere = object[Member.isEndOnlyHere.rawValue]?.bool ?? false
        additionalParameters = AdditionalParameters(
            object[Member.additionalParameters.rawValue]?.object ?? [:])
        unknownMembers = object.without(Set(Member.allCases.map(\.rawValue)))
    }

    /// True if the bytes are in a layout that only a later version of this program can read.
    public static func isOfLaterLayout(_ bytes: [UInt8]) -> Bool {
        guard let version = (try? JSONObject(parsing: bytes))?[Member.version.rawValue]?.integer else {
            return false
        }
        return version > Self.version
    }
}

extension StoredAccessToken {
    private enum Member: String, CaseIterable {
        case token
        case generation
        case expiresAtMilliseconds = "expires_at_ms"
        case lifetimeMilliseconds = "lifetime_ms"
        case request
        case tokenType = "token_type"
        case isBound = "bound"
    }

    fileprivate var json: JSONValue {
        var object = unknownMembers
        func put(_ member: Member, _ value: JSONValue) { object[member.rawValue] = value }
        put(.token, .string(token.withPlaintext { $0 }))
        put(.generation, .integer(Int64(generation)))
        put(.expiresAtMilliseconds, .integer(expiresAt.sinceEpoch.wholeMilliseconds))
        put(.lifetimeMilliseconds, .integer(lifetime.wholeMilliseconds))
        put(.request, .string(request))
        if let tokenType { put(.tokenType, .string(tokenType)) }
        if isBound { put(.isBound, .bool(true)) }
        return .object(object)
    }

    fileprivate init?(_ json: JSONValue) {
        guard let object = json.object else { return nil }
        func value(_ member: Member) -> JSONValue? { object[member.rawValue] }
        guard let token = value(.token)?.string, !token.isEmpty,
            let generation = value(.generation)?.integer,
            let expiry = Duration(storedMilliseconds: value(.expiresAtMilliseconds)?.integer),
            let lifetime = Duration(storedMilliseconds: value(.lifetimeMilliseconds)?.integer),
            let request = value(.request)?.string
        else { return nil }
        self.init(
            token: Secret(token), generation: Int(clamping: generation),
            expiresAt: WallTime(sinceEpoch: expiry), lifetime: lifetime, request: request,
            tokenType: value(.tokenType)?.string)
        isBound = value(.isBound)?.bool ?? false
        unknownMembers = object.without(Set(Member.allCases.map(\.rawValue)))
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
