// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON

/// GitHub's answer to a request for an installation token.
package struct InstallationResponse {
    private let response: TransportResponse

    package init(_ response: TransportResponse) { self.response = response }

    /// `token`, until `expires_at`.
    ///
    /// - Throws: ``TokenFailure`` of kind transient if there is none that can be used.
    package func token(at wall: WallTime) throws(TokenFailure) -> TokenResponse {
        guard case .object(let object) = ResponseBody(response.body), let text = object["token"]?.string
        else {
            throw TokenFailure(
                .transient, .noAccessToken, detail: "the answer of \(response.place) has no token")
        }
        let token = Secret(text)
        guard token.isToken else {
            throw TokenFailure(
                .transient, .badAccessToken,
                detail: "the answer of \(response.place): the token has bytes that no header may hold")
        }
        let end = try object.end("expires_at", { $0.string.flatMap(WallTime.init(rfc3339:)) }) { words in
            TokenFailure(.transient, .noAccessToken, detail: "the answer of \(response.place) \(words)")
        }
        return try TokenResponse(accessToken: token, lifetime: nil)
            .ofSource(endingAt: end, wall, at: response.place)
    }
}
