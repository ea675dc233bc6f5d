// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem
internal import Glibc

/// The field lines of one head on its way in, as ``HTTPFields`` keeps them.
///
/// Their memory is of no array: to ask for each line who else knows the array, and to make room twice, costs more than to
/// copy all lines once, when they are complete. Confined to the thread of its session.
final class GatheredLines {
    private var block: UnsafeMutablePointer<UInt8>  // freed in deinit and drop()
    private var size: Int
    private var used = 0
    private var lines: UnsafeMutablePointer<FieldEntry>  // freed in deinit and drop()
    private var room: Int
    /// The number of lines.
    private(set) var count = 0
    /// The bits of all known names that occur.
    private var present: UInt64 = 0

    /// Enough for most heads; what larger ones need is not kept for the next.
    private static let usual = (size: 2 * 1024, room: 64)

    init() {
        (size, room) = Self.usual
        block = .allocate(capacity: size)
        lines = .allocate(capacity: room)
    }

    deinit {
        wipe()
        block.deallocate()
        lines.deallocate()
    }

    /// Returns true if there is a line of that name.
    func has(_ name: KnownFieldName) -> Bool { present & name.bit != 0 }

    /// Appends a field whose name and value are known to be what a field may hold, and have no white space around them.
    ///
    /// - Parameter number: that of the name among the known ones.
    @inline(__always)
    func append(_ name: Span<UInt8>, _ value: Span<UInt8>, number: UInt8, isNeverIndexed: Bool) {
        let end = used + name.count + value.count + 4
        guard name.count <= Int(UInt16.max), end <= HTTPFields.maximumBlock else { return }
        if end > size || count == room { grow(to: end) }
        let line = block + used
        let text = line + name.count + 2
        name.withUnsafeBufferPointer { Self.copy($0, to: line) }
        line[name.count] = Byte.colon
        line[name.count + 1] = Byte.space
        value.withUnsafeBufferPointer { Self.copy($0, to: text) }
        text[value.count] = Byte.carriageReturn
        text[value.count + 1] = Byte.lineFeed
        let entry = FieldEntry(
            nameStart: UInt32(truncatingIfNeeded: used),
            valueStart: UInt32(truncatingIfNeeded: used + name.count + 2),
            valueLength: UInt32(truncatingIfNeeded: value.count),
            nameLength: UInt16(truncatingIfNeeded: name.count), number: number,
            traits: isNeverIndexed ? 3 : 1)
        lines[count] = entry
        // None is Connection, which nghttp2 refuses (RFC 9113 §8.2.2).
        present |= entry.bit
        used = end
        count += 1
    }

    @inline(__always)
    private static func copy(_ bytes: UnsafeBufferPointer<UInt8>, to target: UnsafeMutablePointer<UInt8>) {
        if let source = bytes.baseAddress { target.update(from: source, count: bytes.count) }
    }

    @inline(never)
    private func grow(to needed: Int) {
        if needed > size {
            size = max(needed, 2 * size)
            let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
            larger.update(from: block, count: used)
            wipe()
            block.deallocate()
            block = larger
        }
        if count == room {
            room *= 2
            let larger = UnsafeMutablePointer<FieldEntry>.allocate(capacity: room)
            larger.update(from: lines, count: count)
            lines.deallocate()
            lines = larger
        }
    }

    /// Returns true if `body` does of the value of the first line of that name; false without one.
    func isTrue(of name: KnownFieldName, _ body: (Span<UInt8>) -> Bool) -> Bool {
        for index in 0..<count where lines[index].number == name.rawValue {
            let value = UnsafeBufferPointer(
                start: block + Int(lines[index].valueStart), count: Int(lines[index].valueLength))
            return body(value.span)
        }
        return false
    }

    /// Moves all lines to `fields`, in place of what is there.
    func move(to fields: inout HTTPFields) {
        fields.replaceAll(
            with: UnsafeBufferPointer(start: lines, count: count).span,
            of: UnsafeBufferPointer(start: block, count: used).span, present: present)
        drop()
    }

    /// Forgets all lines, in which there may be secrets, and memory that a large head has needed.
    func drop() {
        wipe()
        used = 0
        count = 0
        present = 0
        guard size > Self.usual.size || room > Self.usual.room else { return }
        block.deallocate()
        lines.deallocate()
        (size, room) = Self.usual
        block = .allocate(capacity: size)
        lines = .allocate(capacity: room)
    }

    private func wipe() { explicit_bzero(block, used) }
}
