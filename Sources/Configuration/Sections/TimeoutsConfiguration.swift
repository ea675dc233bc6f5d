// SPDX-License-Identifier: Apache-2.0

package import BearerdRouting

/// Time-outs (`timeouts`); zero turns one off.
package struct TimeoutsConfiguration: Sendable {
    /// From the first byte of a request to the end of its head.
    package let header: Duration
    /// The longest pause between two requests of a kept connection.
    package let idle: Duration
    /// The longest time that a half-closed client may take nothing before it counts as gone.
    package let halfClosed: Duration
    /// The longest request to the authorization server, in total.
    package let token: Duration
    /// The longest wait of a request for a token.
    package let tokenWait: Duration
    /// The time-outs of upstreams whose routes have none of their own.
    package let upstream: UpstreamTimeouts
}

extension TimeoutsConfiguration {
    enum Key: String, ConfigurationKey {
        case header
        case idle
        case halfClosed = "half_closed"
        case connect
        case firstByte = "first_byte"
        case streamIdle = "stream_idle"
        case upstreamIdle = "upstream_idle"
        case upstreamAge = "upstream_age"
        case token
        case tokenWait = "token_wait"
    }

    init(reading section: Section<Key>) {
        header = section.value(.header, .duration, default: .seconds(10))
        idle = section.value(.idle, .duration, default: .seconds(75))
        halfClosed = section.value(.halfClosed, .duration, default: .seconds(2))
        token = section.value(.token, .positiveDuration, default: .seconds(10))
        tokenWait = section.value(.tokenWait, .positiveDuration, default: .seconds(10))
        upstream = UpstreamTimeouts(reading: section, otherwise: UpstreamTimeouts())
    }
}
