// SPDX-License-Identifier: Apache-2.0

internal import BearerdRouting

extension UpstreamTimeouts {
    /// Reads a route's own time-outs; reports those that are not an upstream's.
    init(ofRoute section: Section<TimeoutsConfiguration.Key>, otherwise general: UpstreamTimeouts) {
        for key in [TimeoutsConfiguration.Key.header, .idle, .halfClosed, .token, .tokenWait]
        where section.has(key) {
            section.error(key, "is not a route's: it belongs to the file's own timeouts")
        }
        self.init(reading: section, otherwise: general)
    }

    init(reading section: Section<TimeoutsConfiguration.Key>, otherwise general: UpstreamTimeouts) {
        self.init()
        connect = section.value(.connect, .duration, default: general.connect)
        firstByte = section.value(.firstByte, .duration, default: general.firstByte)
        streamIdle = section.value(.streamIdle, .duration, default: general.streamIdle)
        idle = section.value(.upstreamIdle, .duration, default: general.idle)
        age = section.value(.upstreamAge, .duration, default: general.age)
    }
}
