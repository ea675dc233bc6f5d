// SPDX-License-Identifier: Apache-2.0

/// The streams of a connection by their ids, which grow by two and so need no hash.
///
/// Few streams are open at once, whatever ids the peer chooses: a search that meets others on its way is short.
final class StreamTable {
    /// A power of two of them, less than half of which are taken; from its home on a stream is in the first free one.
    private var slots: [HTTP2Stream?]
    private var taken = 0

    init() { slots = Array(repeating: nil, count: 16) }

    var count: Int { taken }
    var isEmpty: Bool { taken == 0 }

    /// All streams, in the order of their ids.
    var all: [HTTP2Stream] { slots.compactMap { $0 }.sorted { $0.id < $1.id } }

    private static func home(of id: Int32, in slots: [HTTP2Stream?]) -> Int {
        Int(id &>> 1) & (slots.count &- 1)
    }

    private static func next(_ index: Int, in slots: [HTTP2Stream?]) -> Int {
        (index &+ 1) & (slots.count &- 1)
    }

    /// The stream with that id; nil if there is none.
    subscript(id: Int32) -> HTTP2Stream? {
        let slots = slots
        var index = Self.home(of: id, in: slots)
        while let stream = slots[index] {
            if stream.id == id { return stream }
            index = Self.next(index, in: slots)
        }
        return nil
    }

    // The slots are moved out and back while they are changed: an access that lasts is checked at run time, and so would be
    // all others to them.

    /// Puts in a stream whose id none of the others has.
    func insert(_ stream: HTTP2Stream) {
        var lent: [HTTP2Stream?] = []
        swap(&lent, &slots)
        if 2 * (taken + 1) > lent.count { Self.grow(&lent) }
        Self.put(stream, into: &lent)
        swap(&lent, &slots)
        taken += 1
    }

    private static func put(_ stream: HTTP2Stream, into slots: inout [HTTP2Stream?]) {
        var index = home(of: stream.id, in: slots)
        while slots[index] != nil { index = next(index, in: slots) }
        slots[index] = stream
    }

    private static func grow(_ slots: inout [HTTP2Stream?]) {
        let streams = slots
        slots = Array(repeating: nil, count: 2 * streams.count)
        for case .some(let stream) in streams { put(stream, into: &slots) }
    }

    /// Takes out the stream with that id.
    ///
    /// - Returns: nil if there is none.
    func remove(_ id: Int32) -> HTTP2Stream? {
        var lent: [HTTP2Stream?] = []
        swap(&lent, &slots)
        defer { swap(&lent, &slots) }
        var gap = Self.home(of: id, in: lent)
        while let stream = lent[gap], stream.id != id { gap = Self.next(gap, in: lent) }
        guard let removed = lent[gap] else { return nil }
        lent[gap] = nil
        taken -= 1
        Self.close(gap, in: &lent)
        return removed
    }

    /// Moves up those that a search would not find behind the gap.
    private static func close(_ start: Int, in slots: inout [HTTP2Stream?]) {
        var gap = start
        var index = next(gap, in: slots)
        while let stream = slots[index] {
            let distance = (index &- home(of: stream.id, in: slots)) & (slots.count &- 1)
            if distance >= (index &- gap) & (slots.count &- 1) {
                slots[gap] = stream
                slots[index] = nil
                gap = index
            }
            index = next(index, in: slots)
        }
    }

    func removeAll() {
        slots = Array(repeating: nil, count: 16)
        taken = 0
    }
}
