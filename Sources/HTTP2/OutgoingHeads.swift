// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem
internal import CBearerdNghttp2
internal import Glibc

/// The known names in the spelling of HTTP/2 (RFC 9113 §8.2.1), by their numbers.
///
/// `@unchecked Sendable`: made once, for ever, and never changed.
private struct LowerCaseNames: @unchecked Sendable {
    let table: UnsafePointer<UnsafeMutablePointer<UInt8>>

    static let all = LowerCaseNames()

    init() {
        let names = KnownFieldName.allCases.map { Array($0.spelling.utf8) }
        let table = UnsafeMutablePointer<UnsafeMutablePointer<UInt8>>.allocate(capacity: names.count)
        for (index, name) in names.enumerated() {
            let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: max(name.count, 1))
            for (offset, byte) in name.enumerated() { copy[offset] = byte.asciiLowercased }
            (table + index).initialize(to: copy)
        }
        self.table = UnsafePointer(table)
    }
}

/// Memory for heads that go out, of all sessions of one thread.
final class HeadMemory {
    static let chunkSize = 16 * 1024
    /// More memory than this is not kept for later heads.
    private static let spareChunks = 8

    private let spare = Exclusive<[UnsafeMutablePointer<UInt8>]>([])  // freed in deinit and empty()
    private var pairs: UnsafeMutablePointer<nghttp2_nv>  // freed in deinit
    private var pairCapacity = 0
    let names = LowerCaseNames.all.table

    init() { pairs = .allocate(capacity: pairCapacity) }

    deinit {
        empty()
        pairs.deallocate()
    }

    /// Memory for the pairs of one head, until the next one is made.
    func memory(forPairs count: Int) -> UnsafeMutablePointer<nghttp2_nv> {
        if count > pairCapacity {
            pairs.deallocate()
            pairCapacity = max(count, 32)
            pairs = .allocate(capacity: pairCapacity)
        }
        return pairs
    }

    fileprivate func take(_ size: Int) -> UnsafeMutablePointer<UInt8> {
        if size == Self.chunkSize, let last = spare.value.popLast() { return last }
        // One byte more, so that the end of none is the beginning of another: heads are found by their addresses.
        return .allocate(capacity: size + 1)
    }

    fileprivate func give(_ chunk: UnsafeMutablePointer<UInt8>, _ size: Int) {
        if size == Self.chunkSize, spare.value.count < Self.spareChunks {
            spare.value.append(chunk)
        } else {
            chunk.deallocate()
        }
    }

    /// Gives up what is kept for later heads.
    func empty() {
        for chunk in spare.value { chunk.deallocate() }
        spare.value = []
    }
}

/// The heads of one session that nghttp2 has been given and has not framed yet.
///
/// nghttp2 would copy each name and each value by itself, and make names lower-case letter by letter. Here a head is copied
/// as a block, which stays where it is until nghttp2 is done with all in the same chunk.
final class OutgoingHeads {
    private struct Chunk {
        let bytes: UnsafeMutablePointer<UInt8>  // given back in drop() or end(at:)
        let size: Int
        var used: Int
        /// How many heads in it nghttp2 holds.
        var waiting = 0

        /// Says if a head begins there; a value without bytes may stand at the end.
        func holds(_ address: UnsafePointer<UInt8>) -> Bool {
            address >= UnsafePointer(bytes) && address <= UnsafePointer(bytes + size)
        }
    }

    let memory: HeadMemory
    /// How many heads nghttp2 holds.
    private var waiting = 0
    /// The chunk that has room.
    private var chunk: Chunk?
    /// Chunks without room, the oldest first.
    private let full = Exclusive<[Chunk]>([])
    /// The memory that is not given back yet, in bytes.
    private(set) var held = 0

    init(in memory: HeadMemory) { self.memory = memory }

    deinit { drop() }

    /// Memory for `count` bytes of a head.
    func take(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        guard let chunk, count <= chunk.size &- chunk.used else { return takeElsewhere(count) }
        self.chunk?.used &+= count
        return chunk.bytes + chunk.used
    }

    private func takeElsewhere(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        if let chunk {
            if chunk.waiting > 0 { full.value.append(chunk) } else { giveBack(chunk) }
        }
        let size = max(count, HeadMemory.chunkSize)
        held &+= size
        let bytes = memory.take(size)
        chunk = Chunk(bytes: bytes, size: size, used: count)
        return bytes
    }

    /// nghttp2 has been given the head that memory was last taken for, and calls back once it is framed or will never be.
    func begin() {
        waiting &+= 1
        chunk?.waiting &+= 1
    }

    /// nghttp2 is done with a head.
    ///
    /// - Parameter address: of a value in it; where nil comes, its chunk is kept until nghttp2 holds no head at all.
    func end(at address: UnsafePointer<UInt8>?) {
        waiting &-= 1
        if waiting == 0 { return drop() }
        guard let address else { return }
        // A peer that takes heads as slowly as they come would never have all of them, so they go chunk by chunk.
        if chunk?.holds(address) == true {
            chunk?.waiting &-= 1
        } else if let index = full.value.firstIndex(where: { $0.holds(address) }) {
            full.value[index].waiting &-= 1
            if full.value[index].waiting == 0 { giveBack(full.value.remove(at: index)) }
        }
    }

    /// Gives the memory back once nghttp2 holds none of it.
    func drop() {
        waiting = 0
        if let chunk { giveBack(chunk) }
        chunk = nil
        guard !full.value.isEmpty else { return }
        for chunk in full.value { giveBack(chunk) }
        full.value = []
    }

    /// Gives a chunk back; there may be fields in it that are secret.
    private func giveBack(_ chunk: Chunk) {
        held &-= chunk.size
        explicit_bzero(chunk.bytes, chunk.used)
        memory.give(chunk.bytes, chunk.size)
    }
}
