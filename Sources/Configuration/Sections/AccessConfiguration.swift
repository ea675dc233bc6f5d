// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// The callers that may use the data listeners (`access`).
package struct AccessConfiguration: Sendable {
    /// The hosts that a request may name; nil for loopback names and each listener's own host, with its port.
    package let hosts: [HostPattern]?
    /// The web origins that may call, in lower case, without their scheme's own port.
    package let origins: [String]
    /// The users that may connect to a Unix socket; nil for the daemon's own and root.
    package let peerUserIDs: Set<UInt32>?
    /// The key that a request must carry in `X-Bearerd-Key`.
    package let key: SecretSource?
}

extension AccessConfiguration {
    enum Key: String, ConfigurationKey {
        case hosts
        case origins
        case peerUserIDs = "peer_uids"
        case key

        var isSecret: Bool { self == .key }
    }

    init(reading section: Section<Key>) {
        hosts = section.list(.hosts, .hostPattern)?.map(\.value)
        origins = section.list(.origins, .origin)?.map(\.value) ?? []
        let users = section.list(.peerUserIDs, .integer(in: 0...Int(UInt32.max)))
        peerUserIDs = users.map { Set($0.map { UInt32($0.value) }) }
        if hosts?.isEmpty == true {
            section.error(.hosts, "lets nobody in; leave it out for the loopback names")
        }
        if peerUserIDs?.isEmpty == true {
            section.error(.peerUserIDs, "lets nobody in; leave it out for the daemon's user and root")
        }
        key = section.fieldSecret(.key)
    }
}
