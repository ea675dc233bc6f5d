// SPDX-License-Identifier: Apache-2.0

/// The streams of a connection by their ids, which grow by two and so need no hash.
///
/// Few streams are open at once, whatever ids the peer chooses: a search that meets others on its way is short.
struct StreamTable {
    /// A power of two of them, less than half of which are taken; from its home on a stream is in the first free one.
    private var slots: [HTTP2Stream?]
    private(set) var count = 0

    init() { slots = Array(repeating: nil, count: 16) }

    var isEmpty: Bool { count == 0 }

    /// All streams, in the order of their ids.
    var all: [HTTP2Stream] { slots.compactMap { $0 }.sorted { $0.id < $1.id } }

    private func home(of id: Int32) -> Int { Int(id &>> 1) & (slots.count &- 1) }

    private func next(_ index: Int) -> Int { (index &+ 1) & (slots.count &- 1) }

    /// The stream with that id; nil if there is none.
    subscript(id: Int32) -> HTTP2Stream? {
        var index = home(of: id)
        while let stream = slots[index] {
            if stream.id == id { return stream }
            index = next(index)
        }
        return nil
    }

    /// Puts in a stream whose id none of the others has.
    mutating func insert(_ stream: HTTP2Stream) {
        if 2 * (count + 1) > slots.count { grow() }
        put(stream)
        count += 1
    }

    private mutating func put(_ stream: HTTP2Stream) {
        var index = home(of: stream.id)
        while slots[index] != nil { index = next(index) }
        slots[index] = stream
    }

    private mutating func grow() {
        let streams = slots
        slots = Array(repeating: nil, count: 2 * streams.count)
        for case .some(let stream) in streams { put(stream) }
    }

    /// Takes out the stream with that id.
    ///
    /// - Returns: nil if there is none.
    mutating func remove(_ id: Int32) -> HTTP2Stream? {
        var gap = home(of: id)
        while let stream = slots[gap], stream.id != id { gap = next(gap) }
        guard let removed = slots[gap] else { return nil }
        slots[gap] = nil
        count -= 1
        close(gap)
        return removed
    }

    /// Moves up those that a search would not find behind the gap.
    private mutating func close(_ start: Int) {
        var gap = start
        var index = next(gap)
        while let stream = slots[index] {
            let distance = (index &- home(of: stream.id)) & (slots.count &- 1)
            if distance >= (index &- gap) & (slots.count &- 1) {
                slots[gap] = stream
                slots[index] = nil
                gap = index
            }
            index = next(index)
        }
    }

    mutating func removeAll() { self = StreamTable() }
}
