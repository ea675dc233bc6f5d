// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// The admin listener (`admin`).
package struct AdminConfiguration: Sendable {
    package let listen: ListenAddress
    /// The key for everything but health, readiness and metrics on an address off loopback.
    package let key: SecretSource?
    /// The users of this machine that may make changes without the key, besides the daemon's own user and root.
    package let peerUserIDs: Set<UInt32>
    /// The user who owns the daemon, if that is neither root nor the user who runs a command.
    package let owner: UInt32?
    /// True if `POST /api/quit` ends the daemon.
    package let allowsQuit: Bool
}

extension AdminConfiguration {
    enum Key: String, ConfigurationKey {
        case listen
        case key
        case peerUserIDs = "peer_uids"
        case owner
        case quit

        var isSecret: Bool { self == .key }
    }

    init(reading section: Section<Key>) {
        let address = section.value(.listen, .listenAddress(in: section.reading))
        if let address { section.reading.judgeDirectory(of: address) }
        listen = address?.value ?? .tcp(host: "127.0.0.1", port: 9090)
        key = section.fieldSecret(.key)
        if key == nil, !listen.isLoopback {
            section.warn(
                .listen, "off loopback without admin.key only health, readiness and metrics are shown")
        }
        peerUserIDs = Set(section.list(.peerUserIDs, .user)?.map(\.value) ?? [])
        owner = section.value(.owner, .user)?.value
        allowsQuit = section.value(.quit, .flag, default: false)
    }
}
