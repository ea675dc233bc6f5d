// SPDX-License-Identifier: Apache-2.0

/// A resource server's refusal of a token.
package struct TokenRejection: Equatable, Sendable {
    /// The generation of the refused token.
    package var generation: Int
    /// The route's name; each route has hold-offs of its own.
    package var route: String
    /// True for status 401; other statuses force a refresh but leave no mark.
    package var isUnauthorized: Bool
    /// True if the request can be sent again: its body is at hand, and nothing of the response was sent on.
    package var canReplay: Bool
    /// True if the route had refused this request before, with another token.
    package var isReplayed: Bool
    /// The values of the response's `WWW-Authenticate`, which are read if people are told of the refusal.
    package var challenges: [String]

    package init(
        generation: Int, route: String, isUnauthorized: Bool = true, canReplay: Bool = true,
        isReplayed: Bool = false, challenges: [String] = []
    ) {
        self.generation = generation
        self.route = route
        self.isUnauthorized = isUnauthorized
        self.canReplay = canReplay
        self.isReplayed = isReplayed
        self.challenges = challenges
    }
}
