// SPDX-License-Identifier: Apache-2.0

/// The audit's record of one request that got a token: which credential served which caller.
///
/// No field can hold a secret: the token is named by its generation only, and the path has no query.
package struct AuditEntry: Sendable {
    /// When the response ended, in milliseconds since 1970.
    package var unixMilliseconds: Int64
    /// The client's address.
    package var peer: String
    /// The caller's user number; nil except on a Unix socket.
    package var user: UInt32?
    /// The path of the caller's program; nil if the kernel does not tell it.
    package var executable: String?
    /// The name that the caller's process has given itself.
    package var command: String?
    /// The name of the route.
    package var route: String
    /// The request method, as it was sent.
    package var method: String
    /// The name of the identity.
    package var identity: String
    /// The person of the identity's session (`sub` of the id token); nil if the session belongs to no person.
    package var subject: String?
    /// The generation of the token in the request; after a replay, that of the second token.
    package var generation: Int
    /// The status that the client saw.
    package var status: Int

    package init(
        unixMilliseconds: Int64, peer: String, user: UInt32? = nil, executable: String? = nil,
        command: String? = nil, route: String, method: String, identity: String, subject: String? = nil,
        generation: Int, status: Int
    ) {
        self.unixMilliseconds = unixMilliseconds
        self.peer = peer
        self.user = user
        self.executable = executable
        self.command = command
        self.route = route
        self.method = method
        self.identity = identity
        self.subject = subject
        self.generation = generation
        self.status = status
    }
}
