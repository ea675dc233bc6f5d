// SPDX-License-Identifier: Apache-2.0

/// Something about each of many streams; when there are too many that may be forgotten, the older half of these is.
///
/// Ids grow by two and so need no hash, as in ``StreamTable``.
struct RecentStreams<Value> {
    private struct Slot {
        let id: Int32
        var value: Value
    }

    /// An open-addressing table whose size is a power of two, with at least half of it free.
    ///
    /// A stream is in the first slot from its home on that was free when it came.
    private var slots: [Slot?] = Array(repeating: nil, count: 16)
    private var count = 0
    /// How many streams are never forgotten, because ``keeps`` is true of them.
    private(set) var keptCount = 0
    /// How many of the streams are not where their search begins.
    private var displaced = 0
    /// The most other streams that are remembered.
    var capacity: Int
    /// The newest stream of those that were forgotten; 0 if none was.
    private(set) var lastForgotten: Int32 = 0

    /// Those of which this is true are never forgotten.
    private let keeps: (Value) -> Bool

    /// - Parameter keeps: says which streams are never forgotten; whoever keeps some bounds their number, see ``keptCount``.
    init(atMost capacity: Int, keeping keeps: @escaping (Value) -> Bool = { _ in false }) {
        self.capacity = capacity
        self.keeps = keeps
    }

    subscript(id: Int32) -> Value? {
        get { slots[index(of: id)]?.value }
        set {
            let index = index(of: id)
            guard let newValue else {
                if slots[index] != nil { remove(at: index) }
                return
            }
            if let old = slots[index] {
                if keeps(old.value) { keptCount -= 1 }
            } else {
                if index != home(of: id) { displaced += 1 }
                count += 1
            }
            slots[index] = Slot(id: id, value: newValue)
            if keeps(newValue) { keptCount += 1 }
            // Each time there are as many again that can be forgotten: looking for them costs little for each stream.
            if count - keptCount > capacity { forgetOlderHalf() }
            // A search ends at a free slot.
            if 2 * count > slots.count { grow() }
        }
    }

    private func home(of id: Int32) -> Int { Int(id &>> 1) & (slots.count &- 1) }

    /// Where the stream is, or else the free slot in which it would be.
    private func index(of id: Int32) -> Int {
        var index = home(of: id)
        while let slot = slots[index], slot.id != id { index = (index &+ 1) & (slots.count &- 1) }
        return index
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: nil, count: 2 * old.count)
        displaced = 0
        for case .some(let slot) in old {
            let index = index(of: slot.id)
            if index != home(of: slot.id) { displaced += 1 }
            slots[index] = slot
        }
    }

    /// Frees a slot, and moves up those that a search would not find behind the gap.
    private mutating func remove(at index: Int) {
        let mask = slots.count &- 1
        if let slot = slots[index] {
            if home(of: slot.id) != index { displaced -= 1 }
            if keeps(slot.value) { keptCount -= 1 }
        }
        slots[index] = nil
        count -= 1
        guard displaced > 0 else { return }
        var (gap, next) = (index, (index &+ 1) & mask)
        while let slot = slots[next] {
            let home = home(of: slot.id)
            if (next &- home) & mask >= (next &- gap) & mask {
                if gap == home { displaced -= 1 }
                slots[gap] = slot
                slots[next] = nil
                gap = next
            }
            next = (next &+ 1) & mask
        }
    }

    private mutating func forgetOlderHalf() {
        let forgettable = slots.compactMap { slot in slot.flatMap { keeps($0.value) ? nil : $0.id } }
        for oldest in forgettable.sorted().prefix(capacity / 2) {
            remove(at: index(of: oldest))
            lastForgotten = max(lastForgotten, oldest)
        }
    }
}
