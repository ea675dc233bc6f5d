// SPDX-License-Identifier: Apache-2.0

/// Judges whether a connection of HTTP/2 still leads to its upstream: by a PING (RFC 9113 §6.7) once nothing has come on it
/// for a while.
///
/// A value without a clock: it counts the ticks of a timer, so that nobody is blamed for a process that stood still.
package struct LinkLiveness {
    /// The counts of the connection at a tick.
    package struct Sight {
        /// How many bytes have come.
        package var received: UInt64
        /// How many HEADERS and DATA frames have come.
        package var messageFrames: Int
        /// How many bytes were given to the kernel.
        package var sent: UInt64
        /// How many bytes of those the upstream's kernel has not taken.
        package var untaken: Int
        /// True if some of them are on their way: the upstream's kernel does not say that it has no room.
        package var awaitsAcknowledgement: Bool
        /// True while the connection carries a request.
        package var isBusy: Bool

        package init(
            received: UInt64 = 0, messageFrames: Int = 0, sent: UInt64 = 0, untaken: Int = 0,
            awaitsAcknowledgement: Bool = false, isBusy: Bool = false
        ) {
            self.received = received
            self.messageFrames = messageFrames
            self.sent = sent
            self.untaken = untaken
            self.awaitsAcknowledgement = awaitsAcknowledgement
            self.isBusy = isBusy
        }
    }

    /// The consequence of a tick.
    package enum Step {
        case goOn
        /// A PING is to be sent.
        case ping
        /// The connection is to take no more requests until something comes.
        case doubt
        /// The connection is to end.
        case end
        /// Nothing is waited for: no ticks are needed before the next request.
        case rest
    }

    /// True if a request has begun, or found no room, that no PING was sent for.
    package var hasNewRequest = false

    private var last = Sight()
    /// Ticks at which nothing had come since the one before.
    private var quiet = 0
    /// Ticks since the PING behind which nothing has come; nil without one.
    private var unanswered: Int?
    /// Ticks since the last PING; those at rest do not count.
    private var sincePing = 0
    /// PINGs since the last frame of a message, without those after a long pause, and how many of those frames there had been.
    private var pings = (count: 0, messageFrames: 0)

    /// Ticks of silence before a PING.
    private static let quietLimit = 2
    /// Ticks after an unanswered PING before the connection is doubted, and before it ends: sooner where the upstream's kernel
    /// acknowledges nothing either, because a program that is busy for so long may still answer.
    private static let limits = (doubt: 1, unacknowledged: 3, acknowledged: 6)
    /// PINGs between two frames of messages.
    ///
    /// Servers of gRPC hold one against the client that comes within 5 minutes of the one before, or while no request is open.
    /// They end the connection for the third such, and forget them only when they send HEADERS or DATA.
    private static let pingLimit = 2
    /// Ticks after which they hold a PING against nobody, while a request is open: 5 minutes and a little.
    private static let longPause = 61

    package init() {}

    /// Begins ticks again for a request.
    ///
    /// - Returns: true if a PING is to go with it, because the connection was silent for long.
    package mutating func resume(_ sight: Sight) -> Bool {
        if sight.received != last.received { hear() }
        last = sight
        return asksAtOnce(sight)
    }

    /// Heeds a request that found no room, between two ticks.
    ///
    /// - Returns: true if a PING is to be sent, because the connection was silent for long.
    package mutating func heed(_ sight: Sight) -> Bool {
        hasNewRequest = true
        return sight.received == last.received && asksAtOnce(sight)
    }

    private mutating func asksAtOnce(_ sight: Sight) -> Bool {
        guard unanswered == nil, quiet >= Self.quietLimit, hasPingsLeft(sight) else { return false }
        pinged(sight, isPermitted: false)
        return true
    }

    package mutating func tick(_ sight: Sight) -> Step {
        defer { last = sight }
        sincePing = min(sincePing + 1, Self.longPause)
        guard sight.received == last.received else {
            hear()
            return .goOn
        }
        // What is untaken goes before a PING: while the upstream takes it, or has no room for it, that is no silence.
        if sight.untaken > 0, !sight.awaitsAcknowledgement || Self.taken(sight) > Self.taken(last) {
            return .goOn
        }
        quiet += 1
        if let unanswered { return judge(unanswered + 1, sight) }
        guard quiet >= Self.quietLimit else { return .goOn }
        guard sight.isBusy else { return .rest }
        let isPermitted = sincePing >= Self.longPause
        guard isPermitted || (hasNewRequest && hasPingsLeft(sight)) else { return .goOn }
        pinged(sight, isPermitted: isPermitted)
        return .ping
    }

    private mutating func judge(_ ticks: Int, _ sight: Sight) -> Step {
        unanswered = ticks
        // What was just sent is not acknowledged yet, whoever is there.
        let isUnacknowledged = sight.awaitsAcknowledgement && last.awaitsAcknowledgement
        if ticks >= (isUnacknowledged ? Self.limits.unacknowledged : Self.limits.acknowledged) { return .end }
        return ticks == Self.limits.doubt ? .doubt : .goOn
    }

    private mutating func hear() {
        quiet = 0
        unanswered = nil
    }

    private func hasPingsLeft(_ sight: Sight) -> Bool {
        pings.count < Self.pingLimit || pings.messageFrames != sight.messageFrames
    }

    /// - Parameter isPermitted: true if servers hold it against nobody.
    private mutating func pinged(_ sight: Sight, isPermitted: Bool) {
        if pings.messageFrames != sight.messageFrames { pings = (0, sight.messageFrames) }
        if !isPermitted { pings.count += 1 }
        sincePing = 0
        unanswered = 0
        hasNewRequest = false
    }

    /// An encrypted byte is counted as more on its way than it was before, which makes this too small and never too large.
    private static func taken(_ sight: Sight) -> Int { Int(clamping: sight.sent) - sight.untaken }
}
