// SPDX-License-Identifier: Apache-2.0

/// How the daemon ends (`shutdown`).
package struct ShutdownConfiguration: Sendable {
    /// How long it goes on serving while `/readyz` is 503 already.
    package let delay: Duration
    /// How long the drain may take after that.
    package let grace: Duration
    /// How long event streams and tunnels of routes go on that a reload has taken away.
    package let streamCloseDelay: Duration
}

extension ShutdownConfiguration {
    enum Key: String, ConfigurationKey {
        case delay
        case grace
        case streamCloseDelay = "stream_close_delay"
    }

    init(reading section: Section<Key>) {
        delay = section.value(.delay, .duration, default: .zero)
        grace = section.value(.grace, .duration, default: .seconds(30))
        streamCloseDelay = section.value(.streamCloseDelay, .duration, default: .seconds(30))
    }
}
