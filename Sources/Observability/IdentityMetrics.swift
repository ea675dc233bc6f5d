// SPDX-License-Identifier: Apache-2.0

/// The metrics of one identity.
package struct IdentityMetrics: Sendable {
    /// The number of token requests with one grant and outcome.
    package struct TokenRequests: Sendable {
        /// The `grant_type` as on the wire.
        package let grant: String
        /// `success`, or the class of the failure.
        package let outcome: String
        package let count: Int

        package init(grant: String, outcome: String, count: Int) {
            self.grant = grant
            self.outcome = outcome
            self.count = count
        }
    }

    /// The name in the configuration.
    package let name: String
    /// The present state.
    package let state: String
    /// When the access token expires, in seconds since 1970; nil without a token.
    package let expiryUnixSeconds: Double?
    /// The token requests so far.
    package let tokenRequests: [TokenRequests]
    /// The failed attempts to store new tokens.
    package let storeWriteFailures: Int
    /// True while the store cannot do what it is asked for the identity.
    package let isStoreAway: Bool
    /// True while there is an access token that can be sent, whatever the state.
    package let isServing: Bool

    /// The end of a registered client's secret in seconds since 1970; nil if nobody says so.
    package let secretExpiryUnixSeconds: Double?

    package init(
        name: String, state: String, expiryUnixSeconds: Double?, tokenRequests: [TokenRequests],
        storeWriteFailures: Int = 0, isStoreAway: Bool = false, isServing: Bool = false,
        secretExpiryUnixSeconds: Double? = nil
    ) {
        self.name = name
        self.state = state
        self.expiryUnixSeconds = expiryUnixSeconds
        self.tokenRequests = tokenRequests
        self.storeWriteFailures = storeWriteFailures
        self.isStoreAway = isStoreAway
        self.isServing = isServing
        self.secretExpiryUnixSeconds = secretExpiryUnixSeconds
    }
}
