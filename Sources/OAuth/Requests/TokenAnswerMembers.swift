// SPDX-License-Identifier: Apache-2.0

import Cryptography
import JSON

/// The members of a successful answer (RFC 6749 §5.1), before they are believed.
struct TokenAnswerMembers {
    /// Longer lifetimes are cut to this, ten years: what follows stays far from overflow.
    private static let longestLifetime: Double = 315_360_000

    /// `token_type` of a token that is bound to a key (RFC 9449 §5).
    private static let boundType = "dpop"

    private let body: AnswerBody

    /// - Returns: nil if the body is no JSON object.
    init?(_ body: AnswerBody) {
        guard case .object = body else { return nil }
        self.body = body
    }

    var refreshToken: Secret? { secret(.refreshToken) }

    /// The refresh token of an answer that is no JSON object, if it can be found all the same.
    static func refreshToken(inBroken body: [UInt8]) -> Secret? {
        guard let text = AnswerBody.remainder(of: body, .refreshToken)?.string, !text.isEmpty else {
            return nil
        }
        return Secret(text)
    }

    /// All but the access token, as one that has expired already; nil without a refresh token.
    var remainder: TokenGrant? {
        guard let refreshToken else { return nil }
        return TokenGrant(
            accessToken: Secret(body[.accessToken]?.string ?? ""), lifetime: .zero,
            refreshToken: refreshToken,
            idToken: secret(.idToken), scope: scope, additional: additional, tokenType: tokenType)
    }

    /// The token, if it can be used; `types` of bearer tokens are compared with its `token_type` without case.
    ///
    /// - Parameter isProved: whether the request asked for a token that is bound to its key (RFC 9449 §5).
    func grant(accepting types: [String], isProved: Bool = false) -> Result<TokenGrant, TokenFailure> {
        guard let token = body[.accessToken]?.string, !token.isEmpty else {
            return .failure(unusable(.noAccessToken, "it has no access token"))
        }
        guard token.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            return .failure(
                unusable(.badAccessToken, "the access token has bytes that no header may hold"))
        }
        let isBound = isProved && body[.tokenType]?.string?.lowercased() == Self.boundType
        guard isBound || isAccepted(body[.tokenType], types) else {
            let wanted = types.isEmpty ? "is not DPoP" : "is none of bearer and accept_token_types"
            return .failure(unusable(.wrongTokenType, "the token_type \(wanted)"))
        }
        let lifetime = lifetime
        if let lifetime, lifetime <= .zero {
            return .failure(unusable(.expiredOnArrival, "expires_in is not positive"))
        }
        var grant = TokenGrant(
            accessToken: Secret(token), lifetime: lifetime, refreshToken: refreshToken,
            idToken: secret(.idToken), scope: scope, additional: additional, tokenType: tokenType)
        grant.isBound = isBound
        return .success(grant)
    }

    /// What has no member of its own here.
    private var additional: AdditionalParameters {
        guard case .object(let object) = body else { return AdditionalParameters() }
        let known: [ResponseMember] = [.accessToken, .tokenType, .expiresIn, .refreshToken, .idToken, .scope]
        return AdditionalParameters(object, except: Set(known.map(\.rawValue)))
    }

    /// `expires_in` as a duration; nil where it is missing or no number.
    private var lifetime: Duration? {
        let seconds: Double? =
            switch body[.expiresIn] {
            case .integer(let value)?: Double(value)
            case .real(let value)?: value
            case .string(let text)?: Self.number(text)
            case .bool?, .array?, .object?, .null?, nil: nil
            }
        guard let seconds, !seconds.isNaN else { return nil }
        return .seconds(min(max(seconds, -1), Self.longestLifetime).rounded(.down))
    }

    /// A decimal number, as some servers put into a string.
    private static func number(_ text: String) -> Double? {
        let words = text.split(separator: " ")
        guard words.count == 1, let word = words.first, word.utf8.count <= 40,
            word.utf8.allSatisfy({ 0x30...0x39 ~= $0 || [0x2B, 0x2D, 0x2E].contains($0) })
        else { return nil }
        return Double(word)
    }

    /// As the server spells it, as far as it is one word.
    private var tokenType: String? {
        body[.tokenType]?.string.flatMap { type in
            1...100 ~= type.utf8.count && type.utf8.allSatisfy { 0x21...0x7E ~= $0 } ? type : nil
        }
    }

    private var scope: [String]? {
        body[.scope]?.string.map { $0.split(separator: " ").map(String.init) }
    }

    private func isAccepted(_ type: JSONValue?, _ types: [String]) -> Bool {
        guard !types.isEmpty else { return false }
        guard let type else { return true }
        guard let name = type.string?.lowercased() else { return false }
        return name.isEmpty || types.contains { $0.lowercased() == name }
    }

    private func secret(_ member: ResponseMember) -> Secret? {
        guard let text = body[member]?.string, !text.isEmpty else { return nil }
        return Secret(text)
    }

    private func unusable(_ reason: TokenFailure.Reason, _ detail: String) -> TokenFailure {
        TokenFailure(.transient, reason, detail: detail)
    }
}
