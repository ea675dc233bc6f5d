// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
package import BearerdHTTPClient
package import OAuth

/// The Redis that keeps a fleet's sessions, and the way to it.
package struct RedisSettings: Sendable {
    /// The server; unused if there are sentinels.
    package var server: RedisServer
    /// The sentinels to ask for the master, one after the other.
    package var sentinels: [RedisServer] = []
    package var masterName = ""
    /// The user to log in as; nil for Redis's default user.
    package var user: String?
    package var database = 0
    /// The beginning of every key and channel.
    package var keyPrefix = "bearerd:"
    /// The names of the identities that the configuration has, whether or not this process asks for their sessions.
    package var identities: Set<String> = []
    /// The certificates to trust, and our own.
    package var transport = Transport()
    /// The time after which a lock ends that its holder does not renew.
    package var leaseLife: Duration = .seconds(15)
    /// The time-out for connecting, with everything before the first command.
    package var connectLimit: Duration = .seconds(5)
    /// The time-out of a command.
    package var commandLimit: Duration = .seconds(2)
    /// How long an open connection goes unused, where sentinels are asked, until they are asked again who the master is.
    ///
    /// A daemon looks at the store each second. One that did not has stood still, maybe together with the master (a host that
    /// was paused), which takes itself for the master for some seconds more, though another one has taken its place.
    package var longestSilence: Duration = .seconds(3)
    /// Reads our certificate and the authorities again, before each connection; may wait for the disk.
    ///
    /// It returns nil where those of ``transport`` count.
    package var prepare: @Sendable () async -> TrustStore? = { nil }
    /// Reads the password again, nil without one; may wait for the disk.
    package var password: @Sendable () async -> Result<Secret?, CredentialError> = { .success(nil) }
    package var passwordKey = Self.passwordKey

    /// The configuration key while there is no password.
    static let passwordKey = "store.password"

    package init(server: RedisServer) { self.server = server }
}
