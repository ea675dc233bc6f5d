// SPDX-License-Identifier: Apache-2.0

import Cryptography

/// The access token in use, with the moments that matter.
struct AccessToken: Sendable {
    /// Providers tell lifetimes, and `exp` of a JWT, in whole seconds, rounded down: what they call the last second of
    /// a token may be over when ours begins.
    private static let rounding: Duration = .seconds(1)

    let snapshot: AccessTokenSnapshot
    /// How long it was good for when it came, as the provider said.
    let lifetime: Duration
    /// From here on a newer one is fetched in the background.
    let renewal: Instant

    /// A token that the provider said ends at `end`, to be renewed one margin before we use it for the last time.
    ///
    /// That is a second before `end`, or half of the lifetime if that is less. No margin configured means the smaller
    /// of 60 s and 20 % of the lifetime. Never more than half of the lifetime counts, or a short-lived token would be
    /// renewed without end. `jitter`, in 0..<1, brings the renewal forward by up to 10 % of the margin.
    ///
    /// `key` is the one that the token is bound to, nil for a bearer token.
    init(
        _ token: Secret, boundTo key: ProofKey? = nil, generation: Int, subject: String?, end: Instant,
        lifetime: Duration,
        margin: Duration?, jitter: Double
    ) {
        let rounding = max(.zero, min(Self.rounding, lifetime / 2))
        let ours = lifetime - rounding
        snapshot = AccessTokenSnapshot(
            generation: generation, token: token, expiry: end - rounding, subject: subject,
            binding: key.map { TokenBinding(of: token, to: $0) })
        self.lifetime = lifetime
        let margin = min(margin ?? min(.seconds(60), ours / 5), ours / 2)
        renewal = snapshot.expiry - margin - margin * (jitter * 0.1)
    }

    func isUsable(at now: Instant) -> Bool { snapshot.isUsable(at: now) }
}
