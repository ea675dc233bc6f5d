// SPDX-License-Identifier: Apache-2.0

/// Phrases that are common in texts about tokens and may be part of readable secrets; they are not recognised as
/// secret.
enum OrdinaryWords {
    private static let phrases = [
        "invalid access token", "invalid refresh token", "invalid bearer token", "invalid client secret",
        "invalid client credentials", "invalid authorization code", "invalid subject token",
        "invalid id token",
        "invalid registration access token", "invalid device code", "invalid code verifier",
        "invalid api key",
        "invalid client assertion", "invalid request", "invalid grant", "invalid scope", "user password",
        "authorization: bearer", "authorization: dpop", "authorization: basic", "session secret",
        "private key", "service account", "test token", "offline access", "openid profile email",
    ]

    /// Their pieces, with words joined in each usual way.
    static var pieces: Set<UInt64> {
        let texts = phrases + ["_", "-"].flatMap { joint in phrases.map { replacing($0, joint) } }
        return Set(texts.flatMap { HeldSecrets.pieces(of: Array($0.utf8)) })
    }

    private static func replacing(_ phrase: String, _ joint: String) -> String {
        phrase.split(separator: " ").joined(separator: joint)
    }
}
