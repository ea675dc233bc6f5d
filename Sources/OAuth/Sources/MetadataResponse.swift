// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON

/// A successful response of a cloud's metadata server.
package struct MetadataResponse {
    private let response: TransportResponse

    package init(_ response: TransportResponse) { self.response = response }

    /// The access token of a JSON document; numbers may be strings, and `expires_on` may stand for `expires_in`; of both the earlier end counts.
    ///
    /// - Throws: ``TokenFailure`` of kind transient if there is none that can be used.
    package func accessToken(at wall: WallTime) throws(TokenFailure) -> TokenResponse {
        let body = ResponseBody(response.body)
        guard case .object(let object) = body else {
            throw TokenFailure(
                .transient, .emptyResponse, detail: "the answer of \(response.place) has no JSON object")
        }
        guard body[.error] == nil else {
            throw TokenFailure(
                .transient, .noAccessToken,
                detail: "the answer of \(response.place) has an error beside its token")
        }
        switch body.tokenResponse(accepting: ["bearer"], provedWith: nil) {
        case .failure(var failure):
            failure.detail = "the answer of \(response.place): \(failure.detail)"
            throw failure
        case .success(let token):
            func unreadable(_ words: String) -> TokenFailure {
                TokenFailure(
                    .transient, .noAccessToken, detail: "the answer of \(response.place) \(words)")
            }
            try object.checkLifetime(of: token, unreadable)
            let end = try object.end("expires_on", WallTime.init(secondsIn:), unreadable)
            return try token.ofSource(endingAt: end, wall, at: response.place)
        }
    }

    /// An identity token, which is all of the body, until its `exp`.
    ///
    /// - Throws: ``TokenFailure`` of kind transient if there is none that can be used.
    package func identityToken(at wall: WallTime) throws(TokenFailure) -> TokenResponse {
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
        let bytes = response.body.drop(while: blanks.contains)
        let end = bytes.lastIndex { !blanks.contains($0) }.map { $0 + 1 } ?? bytes.startIndex
        let token = Secret(bytes: Array(bytes[..<end]))
        guard token.isToken, let expiry = token.expiryOfJWT else {
            throw TokenFailure(
                .transient, .badAccessToken, detail: "the answer of \(response.place) is no identity token")
        }
        return try TokenResponse(accessToken: token, lifetime: nil)
            .ofSource(endingAt: expiry, wall, at: response.place)
    }
}

extension TokenResponse {
    /// The access token alone, with a lifetime that ends at `end` at the latest.
    ///
    /// - Throws: ``TokenFailure`` if that is over.
    func ofSource(
        endingAt end: WallTime?, _ wall: WallTime, at place: String
    ) throws(TokenFailure) -> TokenResponse {
        var lifetime = lifetime
        if let end {
            guard end > wall else {
                throw TokenFailure(
                    .transient, .expiredOnArrival, detail: "the token of \(place) has expired already")
            }
            lifetime = min(end - wall, lifetime ?? ClientConfiguration.longestLifetime)
        }
        return TokenResponse(accessToken: accessToken, lifetime: lifetime, tokenType: tokenType)
    }
}

extension JSONObject {
    /// The end of a token according to a member; nil if there is none, or `null`.
    ///
    /// - Throws: what `failure` makes of words that name the member, if that cannot be read.
    func end(
        _ name: String, _ read: (JSONValue) -> WallTime?, _ failure: (String) -> TokenFailure
    ) throws(TokenFailure) -> WallTime? {
        guard let value = self[name], !value.isNull else { return nil }
        guard let end = read(value) else {
            throw failure("has an \(name) that is no moment with a time zone")
        }
        return end
    }

    /// Looks for an `expires_in` that was not understood.
    ///
    /// - Throws: what `failure` makes of words that name the member.
    func checkLifetime(
        of token: TokenResponse, _ failure: (String) -> TokenFailure
    ) throws(TokenFailure) {
        guard token.lifetime == nil, let value = self["expires_in"], !value.isNull else { return }
        throw failure("has an expires_in that is no number of seconds")
    }
}

extension WallTime {
    /// Seconds since 1970, as a number or a string of one; nil for anything else.
    init?(secondsIn value: JSONValue) {
        guard let seconds = value.number ?? value.string.flatMap(Self.number), seconds.isFinite else {
            return nil
        }
        self.init(secondsSinceEpoch: Int64(min(max(seconds, -1e12), 1e12)))
    }

    private static func number(_ text: String) -> Double? {
        guard 1...20 ~= text.utf8.count, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || $0 == 0x2E }) else {
            return nil
        }
        return Double(text)
    }
}
