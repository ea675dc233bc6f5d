// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

extension HTTPFields {
    /// Field lines in order, in memory that is used again.
    ///
    /// To shorten an array costs a hundred instructions, and each head is shorter or longer than the one before: here lines
    /// of earlier heads stay behind the last one, where nobody sees them.
    package struct Entries: RandomAccessCollection, MutableCollection, Sendable {
        /// All of the memory; lines from ``count`` on mean nothing.
        package var memory: [Entry] = []
        /// The number of lines; not private, because only what other modules may see is inlined there.
        package var count = 0

        package init() {}

        @inline(__always) package var startIndex: Int { 0 }
        @inline(__always) package var endIndex: Int { count }

        package subscript(index: Int) -> Entry {
            @inline(__always)
            get {
                precondition(index < count, "there is no such line")
                return memory[index]
            }
            @inline(__always)
            _modify {
                precondition(index < count, "there is no such line")
                yield &memory[index]
            }
        }

        @inline(__always)
        package mutating func append(_ entry: Entry) {
            if count < memory.count { memory[count] = entry } else { memory.append(entry) }
            count &+= 1
        }

        /// Drops all lines but the first `count`.
        @inline(__always)
        package mutating func shorten(to count: Int) {
            precondition(count <= self.count, "there are fewer lines")
            self.count = count
        }

        /// Takes the lines that were written to ``memory``.
        @inline(__always)
        package mutating func use(_ count: Int) {
            precondition(count <= memory.count, "there are fewer lines")
            self.count = count
        }

        @inline(__always)
        package mutating func removeAll(keepingCapacity: Bool) {
            if !keepingCapacity { memory = [] }
            count = 0
        }

        /// Removes the lines with these known names; the others keep their order.
        mutating func remove(namesIn unwanted: UInt64) {
            let count = count
            var kept = 0
            var all = memory.mutableSpan
            for index in 0..<count where unwanted & all[index].bit == 0 {
                if kept < index { all[kept] = all[index] }
                kept &+= 1
            }
            self.count = kept
        }
    }
}
