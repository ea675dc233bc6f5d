// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON

/// Reading the body of a successful token response (RFC 6749 §5.1).
extension ResponseBody {
    /// Longer lifetimes are cut to this, ten years but a second, in seconds: later sums do not overflow, and ten years are the
    /// lifetime of a token that has no end.
    private static let longestLifetime: Double = 315_359_999

    var refreshToken: Secret? { secret(.refreshToken) }

    /// The tokens, if the access token is usable.
    ///
    /// - Parameters:
    ///   - types: accepted values of `token_type`, compared without case.
    ///   - setting: the name of the setting that has more than `bearer`; nil for none.
    ///   - key: the key that the request proved possession of; a token of type `DPoP` is bound to it (RFC 9449 §5).
    func tokenResponse(
        accepting types: [String], of setting: String? = nil, provedWith key: ProofKey?
    ) -> Result<TokenResponse, TokenFailure> {
        guard let token = self[.accessToken]?.string, !token.isEmpty else {
            return .failure(unusable(.noAccessToken, "it has no access token"))
        }
        guard token.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            return .failure(
                unusable(.badAccessToken, "the access token has bytes that no header may hold"))
        }
        let isBound = key != nil && self[.tokenType]?.string?.lowercased() == "dpop"
        guard isBound || isAccepted(self[.tokenType], types) else {
            let wanted =
                types.isEmpty ? "is not DPoP" : "is none of bearer" + (setting.map { " and \($0)" } ?? "")
            return .failure(unusable(.wrongTokenType, "the token_type \(wanted)"))
        }
        let lifetime = lifetime
        if let lifetime, lifetime <= .zero {
            return .failure(unusable(.expiredOnArrival, "expires_in is not positive"))
        }
        var response = response(accessToken: token, lifetime: lifetime, provedWith: key)
        response.isBound = isBound
        return .success(response)
    }

    /// The response with an access token that has expired already; nil without a refresh token.
    func tokenResponseWithoutAccess(provedWith key: ProofKey?) -> TokenResponse? {
        guard refreshToken != nil else { return nil }
        return response(accessToken: self[.accessToken]?.string ?? "", lifetime: .zero, provedWith: key)
    }

    private func response(
        accessToken: String, lifetime: Duration?, provedWith key: ProofKey?
    ) -> TokenResponse {
        var response = TokenResponse(
            accessToken: Secret(accessToken), lifetime: lifetime, refreshToken: refreshToken,
            idToken: secret(.idToken),
            scope: self[.scope]?.string.map { $0.split(separator: " ").map(String.init) },
            additional: additionalParameters(
                except: [.accessToken, .tokenType, .expiresIn, .refreshToken, .idToken, .scope]),
            tokenType: tokenType)
        response.proofKey = key
        return response
    }

    /// `expires_in`; nil if it is missing or no number.
    private var lifetime: Duration? {
        let seconds: Double? =
            switch self[.expiresIn] {
            case .integer(let value)?: Double(value)
            case .real(let value)?: value
            case .string(let text)?: Self.number(text)
            case .bool?, .array?, .object?, .null?, nil: nil
            }
        guard let seconds, !seconds.isNaN else { return nil }
        return .seconds(min(max(seconds, -1), Self.longestLifetime).rounded(.down))
    }

    /// A decimal number in a string, as some servers send it.
    private static func number(_ text: String) -> Double? {
        let words = text.split(separator: " ")
        guard words.count == 1, let word = words.first, word.utf8.count <= 40,
            word.utf8.allSatisfy({ 0x30...0x39 ~= $0 || [0x2B, 0x2D, 0x2E].contains($0) })
        else { return nil }
        return Double(word)
    }

    /// `token_type` as spelled by the server; nil if it is not one printable word.
    private var tokenType: String? {
        self[.tokenType]?.string.flatMap { type in
            1...100 ~= type.utf8.count && type.utf8.allSatisfy { 0x21...0x7E ~= $0 } ? type : nil
        }
    }

    private func isAccepted(_ type: JSONValue?, _ types: [String]) -> Bool {
        guard !types.isEmpty else { return false }
        guard let type else { return true }
        guard let name = type.string?.lowercased() else { return false }
        return name.isEmpty || types.contains { $0.lowercased() == name }
    }

    private func secret(_ member: ResponseMember) -> Secret? {
        guard let text = self[member]?.string, !text.isEmpty else { return nil }
        return Secret(text)
    }

    private func unusable(_ reason: TokenFailure.Reason, _ detail: String) -> TokenFailure {
        TokenFailure(.transient, reason, detail: detail)
    }
}
