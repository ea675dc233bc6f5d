// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The access token in use, with its expiry and the moment of its renewal.
struct AccessToken: Sendable {
    /// Servers round lifetimes and `exp` down to seconds, so the last second may be over before it begins here.
    private static let rounding: Duration = .seconds(1)

    let snapshot: AccessTokenSnapshot
    /// The lifetime that the response gave it.
    let lifetime: Duration
    /// When a newer token is fetched in the background.
    let renewal: Instant

    /// A token that ends at `end`; it is used until a second before, or until half of a lifetime below two seconds.
    ///
    /// It is renewed one margin before that. A nil margin is the smaller of 60 s and 20 % of the lifetime; no margin
    /// exceeds half of the lifetime, or a short-lived token would be renewed without end. `jitter`, in 0..<1, brings the
    /// renewal forward by up to 10 % of the margin. `key` is the key that the token is bound to, nil for a bearer token.
    init(
        _ token: Secret, boundTo key: ProofKey? = nil, generation: Int, subject: String?,
        idToken: Secret? = nil, end: Instant, lifetime: Duration,
        margin: Duration?, jitter: Double
    ) {
        let rounding = max(.zero, min(Self.rounding, lifetime / 2))
        let ours = lifetime - rounding
        snapshot = AccessTokenSnapshot(
            generation: generation, token: token, expiry: end - rounding, subject: subject,
            idToken: idToken, binding: key.map { DPoPBinding(of: token, to: $0) })
        self.lifetime = lifetime
        let margin = min(margin ?? min(.seconds(60), ours / 5), ours / 2)
        renewal = snapshot.expiry - margin - margin * (jitter * 0.1)
    }

    /// The same token under the generation that it was given before.
    func numbered(_ generation: Int) -> AccessToken {
        AccessToken(
            snapshot: AccessTokenSnapshot(
                generation: generation, token: snapshot.token, expiry: snapshot.expiry,
                subject: snapshot.subject, idToken: snapshot.idToken, binding: snapshot.binding),
            lifetime: lifetime, renewal: renewal)
    }

    private init(snapshot: AccessTokenSnapshot, lifetime: Duration, renewal: Instant) {
        self.snapshot = snapshot
        self.lifetime = lifetime
        self.renewal = renewal
    }

    /// The lifetime that people are told; nil for a token without an expiry.
    var finiteLifetime: Duration? { lifetime < ClientConfiguration.longestLifetime ? lifetime : nil }

    func isUsable(at now: Instant) -> Bool { snapshot.isUsable(at: now) }
}
