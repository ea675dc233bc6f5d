// SPDX-License-Identifier: Apache-2.0

package import Cryptography
package import HTTPClient
package import OAuth

/// Which Redis keeps the sessions of a fleet, and how it is reached.
package struct RedisSettings: Sendable {
    /// Not connected to where there are sentinels.
    package var server: RedisServer
    /// Asked one after the other for the master's address.
    package var sentinels: [RedisServer] = []
    /// What sentinels call it.
    package var masterName = ""
    /// Nil for the user that connections have without a name.
    package var user: String?
    package var database = 0
    /// What every key and channel of ours begins with.
    package var keyPrefix = "bearerd:"
    /// Whose certificates are believed, and ours.
    package var transport = Transport()
    /// How long a holder that says nothing keeps the lock.
    package var leaseLife: Duration = .seconds(15)
    /// How long a connection may take, with all that is said before the first command.
    package var connectLimit: Duration = .seconds(5)
    /// How long a command may take.
    package var commandLimit: Duration = .seconds(2)
    /// Has our certificate read anew, before each connection; may take as long as a disk does.
    package var prepare: @Sendable () async -> Void = {}
    /// Reads the password anew, nil without one; may take as long as a disk does.
    package var password: @Sendable () async -> Result<Secret?, CredentialError> = { .success(nil) }
    /// The key of the configuration that the password comes from.
    package var passwordKey = Self.passwordKey

    /// The key where there is no password yet.
    static let passwordKey = "store.password"

    package init(server: RedisServer) {
        self.server = server
    }
}
