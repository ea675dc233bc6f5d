// SPDX-License-Identifier: Apache-2.0

/// How long an upstream may take; nil where a limit is turned off.
package struct UpstreamTimeouts: Hashable, Sendable {
    /// Name lookup, connection and TLS handshake together; also how long a request waits for a free connection.
    package let connect: Duration?
    /// From the last byte of the request to the first of the response.
    package let firstByte: Duration?
    /// Silence inside a body.
    package let streamIdle: Duration?
    /// How long an unused connection is kept.
    package let idle: Duration?
    /// How old a connection may be when a request is put on it.
    package let age: Duration?
}

extension UpstreamTimeouts {
    static var standard: UpstreamTimeouts {
        UpstreamTimeouts(
            connect: .seconds(5), firstByte: .seconds(60), streamIdle: .seconds(300), idle: .seconds(30),
            age: .seconds(600))
    }

    /// A route's own limits; what is not an upstream's does not belong there.
    init(ofRoute section: Section<TimeoutsConfiguration.Key>, otherwise general: UpstreamTimeouts) {
        for key in [TimeoutsConfiguration.Key.header, .idle, .halfClosed, .token, .tokenWait]
        where section.has(key) {
            section.error(key, "is not a route's: it belongs to the file's own timeouts")
        }
        self.init(reading: section, otherwise: general)
    }

    init(reading section: Section<TimeoutsConfiguration.Key>, otherwise general: UpstreamTimeouts) {
        connect = section.value(.connect, .timeLimit, default: general.connect)
        firstByte = section.value(.firstByte, .timeLimit, default: general.firstByte)
        streamIdle = section.value(.streamIdle, .timeLimit, default: general.streamIdle)
        idle = section.value(.upstreamIdle, .timeLimit, default: general.idle)
        age = section.value(.upstreamAge, .timeLimit, default: general.age)
    }
}
