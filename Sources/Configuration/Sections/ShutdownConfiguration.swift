// SPDX-License-Identifier: Apache-2.0

/// The phases of a shutdown (`shutdown`).
package struct ShutdownConfiguration: Sendable {
    /// The time to go on serving while `/readyz` already answers 503.
    package let delay: Duration
    /// The longest drain after that.
    package let grace: Duration
    /// The time that event streams and tunnels may go on after a reload has removed their route.
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
