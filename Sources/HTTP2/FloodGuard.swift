// SPDX-License-Identifier: Apache-2.0

/// Judges whether a peer sends more of the frames that carry no content than any honest one does.
///
/// Each kind has a budget of its own, so that many of one kind do not excuse others. Content that we send earns the
/// frames that answer it: whoever downloads fast sends WINDOW_UPDATE and PING often.
struct FloodGuard {
    private var pings = FrameBudget(burst: 200, perSecond: 20)
    private var settings = FrameBudget(burst: 50, perSecond: 2)
    private var emptyData = FrameBudget(burst: 100, perSecond: 20)
    private var windowUpdates = FrameBudget(burst: 2000, perSecond: 200)
    private var priorities = FrameBudget(burst: 500, perSecond: 50)
    private var unknown = FrameBudget(burst: 200, perSecond: 20)
    /// CONTINUATION in place of a larger frame before it.
    private var continuations = FrameBudget(burst: 200, perSecond: 20)
    /// The peer's RST_STREAM (CVE-2023-44487).
    private var resets = FrameBudget(burst: 200, perSecond: 50)
    /// RST_STREAM that the peer makes us send (CVE-2025-8671).
    private var provokedResets = FrameBudget(burst: 100, perSecond: 10)
    /// Frames on streams that we have ended: an upload in small pieces may be on its way.
    private var lateFrames = FrameBudget(burst: 2000, perSecond: 500)
    /// How many bytes of content we have sent and WINDOW_UPDATE has not given back, of the connection and of streams.
    private var owed = (connection: 0, streams: 0)
    /// Streams beyond the limit; there may be many before our SETTINGS arrive.
    private var refusals = FrameBudget(burst: Double(Self.refusalBurst), perSecond: 20)

    /// How many streams beyond the limit may be refused at once.
    static let refusalBurst = 1000

    /// Counts in the time that has passed.
    mutating func refill(seconds: Double) {
        pings.refill(seconds: seconds)
        settings.refill(seconds: seconds)
        emptyData.refill(seconds: seconds)
        windowUpdates.refill(seconds: seconds)
        priorities.refill(seconds: seconds)
        unknown.refill(seconds: seconds)
        continuations.refill(seconds: seconds)
        resets.refill(seconds: seconds)
        provokedResets.refill(seconds: seconds)
        lateFrames.refill(seconds: seconds)
        refusals.refill(seconds: seconds)
    }

    /// The kinds of frames that are counted.
    enum Kind: String {
        case ping = "PING"
        case settings = "SETTINGS"
        case emptyData = "empty DATA"
        case windowUpdate = "WINDOW_UPDATE"
        case priority = "PRIORITY"
        case unknown = "unknown frames"
        case continuation = "CONTINUATION"
        case reset = "RST_STREAM"
        case provokedReset = "malformed requests"
        case refusal = "streams beyond the limit"
        case late = "frames on ended streams"
    }

    /// The kind of which the peer has sent more than it may; nil while there is none.
    private(set) var exceeded: Kind?

    /// - Parameter frames: as how many it counts.
    /// - Returns: false when the peer has sent more of the kind than it may.
    mutating func admits(_ kind: Kind, countingAs frames: Double = 1) -> Bool {
        let isAdmitted = spend(frames, on: kind)
        if !isAdmitted { exceeded = kind }
        return isAdmitted
    }

    /// Says that the peer has sent more of the kind than it may, whatever its budget.
    mutating func exceed(_ kind: Kind) { exceeded = kind }

    private mutating func spend(_ frames: Double, on kind: Kind) -> Bool {
        switch kind {
        case .ping: pings.spend(frames)
        case .settings: settings.spend(frames)
        case .emptyData: emptyData.spend(frames)
        case .windowUpdate: windowUpdates.spend(frames)
        case .priority: priorities.spend(frames)
        case .unknown: unknown.spend(frames)
        case .continuation: continuations.spend(frames)
        case .reset: resets.spend(frames)
        case .provokedReset: provokedResets.spend(frames)
        case .refusal: refusals.spend(frames)
        case .late: lateFrames.spend(frames)
        }
    }

    /// - Parameter length: of a frame on a stream that we have ended, and that the peer should know of.
    /// - Returns: false when the peer has sent more of them than it may.
    mutating func admitsLate(_ length: Int) -> Bool { admits(.late, countingAs: 1 + Double(length) / 256) }

    /// Content went out, which the peer answers with frames of its own.
    mutating func sentContent(_ count: Int) {
        windowUpdates.earn(4)
        pings.earn(1)
        owed.connection += count
        owed.streams += count
    }

    /// A window was opened, by a frame that was charged: one that gives back what we have sent is earned, however small the
    /// pieces in which the peer reads.
    mutating func windowOpened(by increment: Int, ofConnection: Bool) {
        if ofConnection {
            guard increment <= owed.connection else { return }
            owed.connection -= increment
        } else {
            guard increment <= owed.streams else { return }
            owed.streams -= increment
        }
        windowUpdates.earn(1)
    }

    /// True if WINDOW_UPDATE must be read before the next one is judged.
    var isShortOfWindowUpdates: Bool { windowUpdates.isShort }

    /// A piece of content came in: clients send PING beside large ones to measure the way, and some peers an empty frame
    /// behind each message.
    mutating func receivedContent(_ count: Int) {
        if count >= 1024 { pings.earn(1) }
        emptyData.earn(1)
    }

    /// A head came in, which clients of RFC 7540 send PRIORITY for, others PRIORITY_UPDATE (RFC 9218), and some an empty
    /// DATA frame behind.
    mutating func receivedHead() {
        priorities.earn(2)
        windowUpdates.earn(2)
        unknown.earn(2)
        emptyData.earn(2)
    }

    /// The peer has reset a stream of which it has had some of the answer: it has lost interest, as clients do.
    mutating func receivedResetOfAnswer() { resets.earn(1) }

    /// We have begun a stream, which the peer may reset, or answer so that we do (RFC 9113 §8.1).
    mutating func sentRequest() {
        resets.earn(1)
        provokedResets.earn(1)
        emptyData.earn(2)
    }
}
