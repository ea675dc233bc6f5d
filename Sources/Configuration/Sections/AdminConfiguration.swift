// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

/// The admin listener (`admin`).
package struct AdminConfiguration: Sendable {
    /// Where it is bound.
    package let listen: ListenAddress
    /// What everything but health, readiness and metrics needs when the address is not loopback.
    package let key: SecretSource?
    /// Whether `POST /api/quit` ends the daemon.
    package let allowsQuit: Bool
}

extension AdminConfiguration {
    enum Key: String, ConfigurationKey {
        case listen
        case key
        case quit

        var isSecret: Bool { self == .key }
    }

    init(reading section: Section<Key>) {
        let address = section.value(.listen, .listenAddress(in: section.reading))
        address.map(section.reading.judgeDirectory)
        listen = address?.value ?? .tcp(host: "127.0.0.1", port: 9090)
        key = section.fieldSecret(.key)
        if key == nil, !listen.isLoopback {
            section.warn(
                .listen, "off loopback without admin.key only health, readiness and metrics are shown")
        }
        allowsQuit = section.value(.quit, .flag, default: false)
    }
}
