// SPDX-License-Identifier: Apache-2.0

/// When a refresh token may be sent once more though its request is not answered, and what late answers mean.
///
/// An authorization server that hangs does all that waits in its sockets when it wakes, in the order in which it came. A
/// refresh token that it has replaced by then, and finds a second time, is a theft to it and ends the session (RFC 9700
/// §4.14.2). So nothing is sent again on a guess: the authorization server has to answer something harmless first, and then
/// the first request's connection has to be dead, or to stay silent for some time more. Where another process has sent the
/// token, nobody here knows of its connection, so that time is waited for too.
///
/// A pure value: events are told with their time, and ``next(at:)`` says what is to be done.
struct UnansweredRefresh: Sendable {
    /// The step to be done next.
    enum Step: Equatable, Sendable {
        /// Send the refresh token.
        case send
        /// Ask the authorization server something that tells it nothing and changes nothing.
        case probe
        /// Wait for an event, or until that moment.
        case wait(until: Instant?)
        /// Wait no longer: no answer can come any more, and the token must not be sent now.
        case end
    }

    /// The connection of a request is kept so long, and its answer counts whenever it comes.
    static let longestWait: Duration = .seconds(600)
    /// How long an authorization server may leave the refresh unanswered while it answers what is harmless.
    static let probeDistance: Duration = .seconds(5)
    /// An authorization server that answers everything but this is not sent one request after the other.
    private static let mostSent = 2

    /// How long an answer is waited for before anything is done about it; zero for ever.
    private let limit: Duration
    private var sent = 0
    /// True while the newest request waits for metadata or a credential of ours: the authorization server cannot have seen it.
    private(set) var isPreparing = false
    /// Requests that went out and whose answers can still come.
    private var living = 0
    private var maySend: Bool
    /// When the newest of them has been waited for long enough; nil for never.
    private var waitEnd: Instant?
    private var isProbing = false
    /// When the authorization server is to be asked next, or once no request is waited for.
    private var nextProbe: Instant?
    private var probesInVain = 0
    /// Since when the authorization server answers what is harmless, without a break.
    private var answersProbesSince: Instant?
    /// True if the authorization server has answered, or cannot be reached: the token is not sent again then.
    private var isDecided = false
    /// True while somebody else's request may still be alive, whose connection nobody here sees die.
    private(set) var othersMayLive: Bool
    /// True if somebody else has sent the token, and we have not sent it since: he may have its answer.
    private(set) var othersSentLast: Bool

    /// True if the authorization server may have acted upon a request whose answer nobody has.
    private(set) var isInDoubt: Bool

    /// - Parameters:
    ///   - isInDoubt: whether somebody has sent the token before, and nobody knows what became of that.
    ///   - isOurs: whether that was a request of ours whose connection has died.
    ///   - limit: `timeouts.token`; zero for ever.
    ///   - now: when it begins.
    init(isInDoubt: Bool, isOurs: Bool = false, waiting limit: Duration, at now: Instant) {
        self.isInDoubt = isInDoubt
        self.limit = limit
        maySend = !isInDoubt
        othersMayLive = isInDoubt && !isOurs
        othersSentLast = othersMayLive
        nextProbe = isInDoubt ? now : nil
    }

    /// True if what went out last has been waited for in vain, and an answer may still come.
    func isSilent(at now: Instant) -> Bool { living > 0 && mayGiveWay(at: now) }

    /// True if no answer is waited for: none can come, or the one that may come is late.
    ///
    /// Only then is the token repeated, and may somebody else have the lease.
    func mayGiveWay(at now: Instant) -> Bool { living == 0 || waitEnd.map { $0 <= now } ?? false }

    /// True if the token may have to be sent once more.
    private var mayRepeat: Bool { !isPreparing && !isDecided && sent < Self.mostSent }

    /// True if the authorization server may act, or may have acted, upon a request whose answer nobody has.
    var isOpen: Bool { living > 0 || isInDoubt }

    /// True if the token is sent next although it was sent before, or may have been.
    var isAboutToRepeat: Bool { maySend && (isInDoubt || sent > 0) }

    /// True if the token was sent, and nobody else may have sent it since.
    var isOursAlone: Bool { sent > 0 && !othersMayLive }

    mutating func next(at now: Instant) -> Step {
        if maySend {
            maySend = false
            othersMayLive = false
            sent += 1
            // An earlier request stays as silent as it was, until this one goes out.
            isPreparing = true
            return .send
        }
        if living == 0, !isPreparing, isDecided || sent == Self.mostSent { return .end }
        let silence = living > 0 ? waitEnd : now
        guard mayRepeat, !isProbing, let nextProbe, let silence else {
            return .wait(until: silence.flatMap { $0 > now ? $0 : nil })
        }
        let due = max(nextProbe, silence)
        guard due <= now else { return .wait(until: due) }
        isProbing = true
        self.nextProbe = nil
        return .probe
    }

    /// Has it begin nothing more than has to be begun: only the answers to what was sent are waited for.
    mutating func stop() {
        isDecided = true
        if sent > 0 || isInDoubt { maySend = false }
    }

    /// Others had the lease meanwhile, and may have sent the token.
    mutating func takenUp(at now: Instant) {
        (othersMayLive, othersSentLast, isInDoubt) = (true, true, true)
        answersProbesSince = nil
        guard isAboutToRepeat else { return }
        maySend = false
        nextProbe = now
    }

    // MARK: Events

    /// The newest request goes out, after waiting for metadata or a credential of ours; or it goes out anew, because it was
    /// refused for a nonce or an encoding.
    mutating func begun(at now: Instant) {
        if isPreparing { living += 1 }
        (isPreparing, othersSentLast) = (false, false)
        connected(at: now)
    }

    /// The connection of the newest request stands, which may have taken long: only now can it be answered.
    ///
    /// Not every transport tells.
    mutating func connected(at now: Instant) {
        (answersProbesSince, probesInVain) = (nil, 0)
        waitEnd = limit > .zero ? now + limit : nil
        nextProbe = waitEnd
    }

    /// A request was refused; what it is refused with counts if no other one brings a token.
    mutating func refused() {
        living -= 1
        isInDoubt = living > 0 || othersMayLive
        isDecided = true
    }

    /// A request's connection has died, or was kept for ``longestWait``, and the authorization server may have acted upon it.
    mutating func lost(at now: Instant) {
        living -= 1
        isInDoubt = true
        guard mayRepeat, !isProbing else { return }
        // Where the next probe is due already, somebody else's request may be alive.
        if answersProbesSince == nil { nextProbe = now } else if !othersMayLive { maySend = true }
    }

    /// A gateway has given a request up, behind which the authorization server may still come to it, or has been already.
    mutating func givenUpByGateway() {
        living -= 1
        (isInDoubt, othersMayLive, isDecided) = (true, true, true)
    }

    /// A request was not sent, or not anew: the authorization server has nothing of it to act upon.
    ///
    /// - Parameter isNewest: whether none has followed it.
    mutating func unsent(isNewest: Bool, at now: Instant) {
        sent -= 1
        if isNewest, isPreparing { isPreparing = false } else { living -= 1 }
        if living > 0 { probeFailed(at: now) } else if !isPreparing { isDecided = true }
    }

    /// The probe has come to an end.
    mutating func probed(isAnswered: Bool, at now: Instant) {
        isProbing = false
        // It may have been asked before a request went out that is waited for now.
        guard mayRepeat, mayGiveWay(at: now) else { return }
        guard isAnswered else {
            guard living > 0 else { return isDecided = true }
            return probeFailed(at: now)
        }
        probesInVain = 0
        // Two answers, so far apart: where this process has stood still between them, what lies in its sockets is read
        // before the second one.
        if living == 0 && !othersMayLive
            || answersProbesSince.map({ now - $0 >= Self.probeDistance }) ?? false
        {
            maySend = true
        } else {
            let since = answersProbesSince ?? now
            answersProbesSince = since
            nextProbe = since + Self.probeDistance
        }
    }

    private mutating func probeFailed(at now: Instant) {
        answersProbesSince = nil
        probesInVain += 1
        nextProbe = now + BackOff.transient.delay(after: probesInVain, jitter: 0)
    }
}
