// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// The streams of a connection by their ids, which grow by two and so need no hash.
///
/// Few streams are open at once, whatever ids the peer chooses: a search that meets others on its way is short.
final class StreamTable {
    /// A power of two of them, less than half of which are taken; from its home on a stream is in the first free one.
    private let slots: Exclusive<[HTTP2Stream?]>
    private var taken = 0
    /// How many of the streams are not where their search begins.
    private var displaced = 0
    /// How many streams are lent.
    private var loans = 0

    init() { slots = Exclusive(Array(repeating: nil, count: 16)) }

    var count: Int { taken }
    var isEmpty: Bool { taken == 0 }

    /// All streams, in the order of their ids.
    var all: [HTTP2Stream] { slots.value.compactMap { $0 }.sorted { $0.id < $1.id } }

    private static func home(of id: Int32, in slots: [HTTP2Stream?]) -> Int {
        Int(id &>> 1) & (slots.count &- 1)
    }

    private static func next(_ index: Int, in slots: [HTTP2Stream?]) -> Int {
        (index &+ 1) & (slots.count &- 1)
    }

    /// The stream with that id; nil if there is none.
    subscript(id: Int32) -> HTTP2Stream? { Self.find(id, in: slots.value) }

    private static func find(_ id: Int32, in slots: [HTTP2Stream?]) -> HTTP2Stream? {
        var index = home(of: id, in: slots)
        while let stream = slots[index] {
            if stream.id == id { return stream }
            index = next(index, in: slots)
        }
        return nil
    }

    /// Lends the stream with that id to `body`, which puts none in and takes none out: no reference to it is counted, as one
    /// that is taken from here costs (38 instructions).
    ///
    /// - Returns: nil if there is none.
    @inline(__always)
    @discardableResult
    func lend<Result>(_ id: Int32, _ body: (HTTP2Stream) -> Result) -> Result? {
        guard let stream = Self.find(id, in: slots.value).map({ Unmanaged.passUnretained($0) }) else {
            return nil
        }
        loans &+= 1
        defer { loans &-= 1 }
        return stream._withUnsafeGuaranteedRef(body)
    }

    /// Puts in a stream whose id none of the others has.
    func insert(_ stream: HTTP2Stream) {
        precondition(loans == 0, "a stream is put in while another is lent")
        if 2 * (taken + 1) > slots.value.count { displaced = Self.grow(&slots.value) }
        if !Self.put(stream, into: &slots.value) { displaced += 1 }
        taken += 1
    }

    /// - Returns: true if the stream is where its search begins.
    private static func put(_ stream: HTTP2Stream, into slots: inout [HTTP2Stream?]) -> Bool {
        let home = home(of: stream.id, in: slots)
        var index = home
        while slots[index] != nil { index = next(index, in: slots) }
        slots[index] = stream
        return index == home
    }

    /// - Returns: how many streams are not where their search begins.
    private static func grow(_ slots: inout [HTTP2Stream?]) -> Int {
        let streams = slots
        slots = Array(repeating: nil, count: 2 * streams.count)
        var displaced = 0
        for case .some(let stream) in streams where !put(stream, into: &slots) { displaced += 1 }
        return displaced
    }

    /// Takes out the stream with that id.
    ///
    /// - Returns: nil if there is none.
    func remove(_ id: Int32) -> HTTP2Stream? {
        precondition(loans == 0, "a stream is taken out while one is lent")
        // A copy: an access that lasts is checked at run time, and so would be all others to the same variable.
        var displaced = displaced
        guard let removed = Self.remove(id, from: &slots.value, &displaced) else { return nil }
        taken -= 1
        self.displaced = displaced
        return removed
    }

    private static func remove(
        _ id: Int32, from slots: inout [HTTP2Stream?], _ displaced: inout Int
    ) -> HTTP2Stream? {
        let home = home(of: id, in: slots)
        var gap = home
        while let stream = slots[gap], stream.id != id { gap = next(gap, in: slots) }
        guard let removed = slots[gap] else { return nil }
        slots[gap] = nil
        if gap != home { displaced -= 1 }
        if displaced > 0 { close(gap, in: &slots, &displaced) }
        return removed
    }

    /// Moves up those that a search would not find behind the gap.
    private static func close(_ start: Int, in slots: inout [HTTP2Stream?], _ displaced: inout Int) {
        var gap = start
        var index = next(gap, in: slots)
        while let stream = slots[index] {
            let home = home(of: stream.id, in: slots)
            let distance = (index &- home) & (slots.count &- 1)
            if distance >= (index &- gap) & (slots.count &- 1) {
                slots[gap] = stream
                slots[index] = nil
                if gap == home { displaced -= 1 }
                gap = index
            }
            index = next(index, in: slots)
        }
    }

    func removeAll() {
        precondition(loans == 0, "streams are taken out while one is lent")
        slots.value = Array(repeating: nil, count: 16)
        taken = 0
        displaced = 0
    }
}
