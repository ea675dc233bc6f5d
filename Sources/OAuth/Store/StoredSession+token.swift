// SPDX-License-Identifier: Apache-2.0

extension StoredSession {
    /// The stored access token that requests of a client's would carry.
    ///
    /// - Parameters:
    ///   - client: as configured, aimed at what the token is for.
    ///   - wall: now.
    /// - Returns: nil if what is stored is another client's, was asked for something else, or has expired.
    package func accessToken(of client: ClientConfiguration, at wall: WallTime) -> StoredAccessToken? {
        guard belongs(to: client),
            let token = self[client.requestDigest], token.expiresAt > wall
        else { return nil }
        return token
    }
}
