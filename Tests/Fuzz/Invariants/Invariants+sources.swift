// SPDX-License-Identifier: Apache-2.0

import OAuth

extension Invariants {
    /// What holds for every text that a command prints or a metadata server answers: a token that may stand in a header,
    /// with a lifetime that is not over, or a transient failure that shows nothing of it.
    ///
    /// - Parameter input: its first byte says which of the parsers reads the rest.
    /// - Returns: what does not hold; nil if all does.
    package static func violation(sourceAnswer input: [UInt8]) -> String? {
        let wall = WallTime(secondsSinceEpoch: 1_800_000_000)
        let bytes = Array(input.dropFirst())
        let response = TransportResponse(status: 200, body: bytes)
        do throws(TokenFailure) {
            let token: TokenResponse
            switch input.first {
            case UInt8(ascii: "m"): token = try MetadataResponse(response).accessToken(at: wall)
            case UInt8(ascii: "i"): token = try MetadataResponse(response).identityToken(at: wall)
            case UInt8(ascii: "g"): token = try InstallationResponse(response).token(at: wall)
            default:
                token = try CommandOutput(failure: nil, output: bytes, error: bytes)
                    .token(of: "program", at: wall)
            }
            let isFit = token.accessToken.withPlaintext { text in
                !text.isEmpty && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
            }
            guard isFit else { return "a token has a byte that no header may hold" }
            guard token.refreshToken == nil, token.idToken == nil else {
                return "a source gives more than a token"
            }
            guard token.lifetime.map({ $0 > .zero && $0 <= .seconds(315_360_000) }) ?? true else {
                return "a lifetime is over, or longer than ten years"
            }
            return nil
        } catch {
            guard error.kind == .transient else { return "an answer is no transient failure" }
            return error.detail.utf8.count < 1000 ? nil : "a detail is longer than what may be shown"
        }
    }
}
