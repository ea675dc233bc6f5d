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
    /// The keys, any of which a request must carry in `X-Bearerd-Key`; none if it needs none.
    package let keys: [AccessKey]
}

/// A key that clients of the data listeners may send (`access.key`, `access.keys[]`).
package struct AccessKey: Sendable {
    package let source: SecretSource
    /// The path of the configuration key, without the suffix of its form, as in `access.keys[1].key`.
    package let path: String
}

extension AccessConfiguration {
    enum Key: String, ConfigurationKey {
        case hosts
        case origins
        case peerUserIDs = "peer_uids"
        case key
        case keys

        var isSecret: Bool { self == .key }
    }

    /// The keys of `access.keys[]`.
    enum ItemKey: String, ConfigurationKey {
        case key

        var isSecret: Bool { true }
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
        var keys: [AccessKey] = []
        if let source = section.fieldSecret(.key) {
            keys.append(AccessKey(source: source, path: section.place(of: .key).path))
        }
        keys += section.furtherKeys
        self.keys = keys
    }
}

extension Section<AccessConfiguration.Key> {
    fileprivate var furtherKeys: [AccessKey] {
        guard has(.keys), let sections = sections(.keys, AccessConfiguration.ItemKey.self) else { return [] }
        if sections.isEmpty { error(.keys, "holds no key; leave it out if none is needed") }
        return sections.compactMap { section in
            if section.isMap, !section.hasSecret(.key), !section.isInDoubt(.key) {
                reading.error("is missing: key, key_file or key_credential", at: section.place)
            }
            guard let source = section.fieldSecret(.key) else { return nil }
            return AccessKey(source: source, path: section.place(of: .key).path)
        }
    }
}
