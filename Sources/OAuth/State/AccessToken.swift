// SPDX-License-Identifier: Apache-2.0

/// The access token in use, with the moments that matter.
struct AccessToken: Sendable {
    let snapshot: AccessTokenSnapshot
    /// How long it was good for when it came.
    let lifetime: Duration
    /// From here on a newer one is fetched in the background.
    let renewal: Instant

    /// A token to be renewed one margin before its expiry.
    ///
    /// No margin configured means the smaller of 60 s and 20 % of the lifetime. Never more than half of the lifetime
    /// counts, or a short-lived token would be renewed without end. `jitter`, in 0..<1, brings the renewal forward by
    /// up to 10 % of the margin.
    init(snapshot: AccessTokenSnapshot, lifetime: Duration, margin: Duration?, jitter: Double) {
        self.snapshot = snapshot
        self.lifetime = lifetime
        let margin = min(margin ?? min(.seconds(60), lifetime / 5), lifetime / 2)
        renewal = snapshot.expiry - margin - margin * (jitter * 0.1)
    }

    func isUsable(at now: Instant) -> Bool { snapshot.isUsable(at: now) }
}
