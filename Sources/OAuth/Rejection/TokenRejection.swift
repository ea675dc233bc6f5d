// SPDX-License-Identifier: Apache-2.0

/// What a resource server's refusal of a token means to its route.
package struct TokenRejection: Equatable, Sendable {
    /// Of the token that the request carried.
    package var generation: Int
    /// The route's name: hold-offs are kept for each.
    package var route: String
    /// Whether the status was 401; other statuses force a refresh but leave no mark.
    package var isUnauthorized: Bool
    /// Whether the request can be sent again: its body is at hand and no byte of the answer was sent on.
    package var canReplay: Bool
    /// Whether the route had refused this very request already, with another token.
    package var isReplayed: Bool

    package init(
        generation: Int, route: String, isUnauthorized: Bool = true, canReplay: Bool = true,
        isReplayed: Bool = false
    ) {
        self.generation = generation
        self.route = route
        self.isUnauthorized = isUnauthorized
        self.canReplay = canReplay
        self.isReplayed = isReplayed
    }
}
