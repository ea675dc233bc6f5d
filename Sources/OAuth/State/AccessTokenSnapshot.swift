// SPDX-License-Identifier: Apache-2.0

public import Crypto

/// One access token, ready to be put into requests by any thread.
public final class AccessTokenSnapshot: Sendable {
    /// Identifies this token in reports of what a resource server thought of it; a later token has a larger one.
    public let generation: Int
    /// For routes that put the token elsewhere than into `Authorization: Bearer`.
    public let token: Secret
    /// The field line `Authorization: Bearer …`, its line end included.
    public let authorizationLine: Secret
    /// The token is never sent at or after this moment.
    public let expiry: Instant

    /// A token of a generation, good until `expiry`.
    public init(generation: Int, token: Secret, expiry: Instant) {
        self.generation = generation
        self.token = token
        self.expiry = expiry
        authorizationLine = token.withPlaintextBytes { token in
            // Of its last size at once: what an array outgrows is freed as it is.
            var line: [UInt8] = []
            line.reserveCapacity(Self.lineStart.count + token.count + Self.lineEnd.count)
            line += Self.lineStart
            for index in token.indices { line.append(token[index]) }
            line += Self.lineEnd
            return Secret(bytes: line)
        }
    }

    private static let lineStart = Array("Authorization: Bearer ".utf8)
    private static let lineEnd = Array("\r\n".utf8)

    /// Whether the token may still be sent.
    public func isUsable(at now: Instant) -> Bool { now < expiry }
}
