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
        return .allocate(capacity: size)
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
/// as a block, which stays where it is until nghttp2 is done with all that it was given.
final class OutgoingHeads {
    let memory: HeadMemory
    /// How many heads nghttp2 holds.
    private var waiting = 0
    private var chunk: UnsafeMutablePointer<UInt8>?  // given back in drop()
    private var used = 0
    private var size = 0
    /// Chunks without room.
    private let full = Exclusive<[(bytes: UnsafeMutablePointer<UInt8>, used: Int, size: Int)]>([])

    init(in memory: HeadMemory) { self.memory = memory }

    deinit { drop() }

    /// Memory for `count` bytes of a head.
    func take(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        guard let chunk, count <= size &- used else { return takeElsewhere(count) }
        let taken = chunk + used
        used &+= count
        return taken
    }

    private func takeElsewhere(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        if let chunk { full.value.append((chunk, used, size)) }
        size = max(count, HeadMemory.chunkSize)
        let new = memory.take(size)
        chunk = new
        used = count
        return new
    }

    /// nghttp2 has been given a head, and calls back once it is framed or will never be.
    func begin() { waiting &+= 1 }

    /// nghttp2 is done with a head.
    func end() {
        waiting -= 1
        if waiting == 0 { drop() }
    }

    /// Gives the memory back once nghttp2 holds none of it; there may be fields in it that are secret.
    func drop() {
        waiting = 0
        if let chunk { give(chunk, used, size) }
        chunk = nil
        used = 0
        size = 0
        guard !full.value.isEmpty else { return }
        for (bytes, used, size) in full.value { give(bytes, used, size) }
        full.value = []
    }

    private func give(_ bytes: UnsafeMutablePointer<UInt8>, _ used: Int, _ size: Int) {
        explicit_bzero(bytes, used)
        memory.give(bytes, size)
    }
}
