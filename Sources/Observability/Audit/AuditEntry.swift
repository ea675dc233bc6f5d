// SPDX-License-Identifier: Apache-2.0

/// Which credential served which caller: what the audit says of one request that got a token.
///
/// No field can hold a secret: a token is told by its generation alone, a path without its query.
package struct AuditEntry: Sendable {
    /// When the answer ended, milliseconds since 1970.
    package var unixMilliseconds: Int64
    /// The client's address.
    package var peer: String
    /// The caller's user number, on a Unix socket.
    package var user: UInt32?
    /// The program that the caller runs, where the kernel tells it.
    package var executable: String?
    /// What the caller's process calls itself, which is its own to choose.
    package var command: String?
    /// The name of the route.
    package var route: String
    /// The request method, as it was sent.
    package var method: String
    /// The name of the identity.
    package var identity: String
    /// The person that the identity's session is of (`sub` of the id token), where it is anybody's.
    package var subject: String?
    /// Of the token that went along, the second one after a replay.
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
