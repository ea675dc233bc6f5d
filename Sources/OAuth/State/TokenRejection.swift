// SPDX-License-Identifier: Apache-2.0

/// What a resource server's refusal of a token means to its route.
package struct TokenRejection: Equatable, Sendable {
    /// Of the token that the request carried.
    package var generation: Int
    /// The route's name: hold-offs are kept for each.
    package var route: String
    /// Whether the status was 401; other statuses force a refresh but leave no mark.
    package var isUnauthorized: Bool
    /// Whether the route wants a refresh on this status.
    package var forcesRefresh: Bool
    /// Whether the request can be sent again: its body is at hand and no byte of the answer was sent on.
    package var canReplay: Bool

    package init(
        generation: Int, route: String, isUnauthorized: Bool = true, forcesRefresh: Bool = true,
        canReplay: Bool = true
    ) {
        self.generation = generation
        self.route = route
        self.isUnauthorized = isUnauthorized
        self.forcesRefresh = forcesRefresh
        self.canReplay = canReplay
    }
}
