// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// How far the field lines of a head have been read.
package struct FieldLineProgress: Sendable {
    /// The offset of the first line that has not been read.
    package var next = 0
    /// The number of lines so far.
    package var count = 0
    /// A bit for each number of a name among them, the lowest for names without one.
    package var present: UInt64 = 0
    /// True if the next line has a name of more bytes than can be counted.
    package var nameIsTooLong = false
    /// The value of `Connection` among them.
    package var connection = ConnectionOption.none

    package init() {}
}

/// The value of `Connection` (RFC 9110 §7.6.1), which is a single word in nearly all messages that have it.
package enum ConnectionOption: UInt8, Sendable {
    /// There is no such field.
    case none
    case close, keepAlive
    /// Another value, or several fields.
    case other
}

/// One field line, as offsets into a block of bytes.
///
/// The layout is `bearerd_field`'s: C writes it and reads it.
package struct FieldEntry: Sendable, Equatable {
    package var nameStart: UInt32
    package var valueStart: UInt32
    package var valueLength: UInt32
    package var nameLength: UInt16
    /// The number of its name; 0 for one without.
    package var number: UInt8
    /// The lowest is set if the block holds exactly `Name: value CR LF` here; the others are the owner's.
    package var traits: UInt8

    @inline(__always)
    package init(
        nameStart: UInt32, valueStart: UInt32, valueLength: UInt32, nameLength: UInt16, number: UInt8,
        traits: UInt8
    ) {
        self.nameStart = nameStart
        self.valueStart = valueStart
        self.valueLength = valueLength
        self.nameLength = nameLength
        self.number = number
        self.traits = traits
    }

    /// Room for a line.
    package static let none = FieldEntry(
        nameStart: 0, valueStart: 0, valueLength: 0, nameLength: 0, number: 0, traits: 0)
}

/// The names of fields that are looked for in heads, each with a number.
///
/// `@unchecked Sendable`: it changes only while it is made.
package final class FieldNameTable: @unchecked Sendable {
    private let names: OpaquePointer  // freed in deinit

    /// - Parameters:
    ///   - spellings: by number; the first is that of all other names.
    ///   - connection: the number of `Connection`; 0 if it is not among them.
    package init(_ spellings: [String], connection: Int = 0) {
        guard let names = bearerd_make_names() else { preconditionFailure("no memory is left") }
        self.names = names
        for (number, spelling) in spellings.enumerated().dropFirst() {
            let isAdded = Array(spelling.utf8).withUnsafeBufferPointer {
                bearerd_add_name(names, UInt8(number), $0.baseAddress, $0.count)
            }
            precondition(isAdded, "\(spelling) cannot be looked for")
        }
        bearerd_set_connection(names, UInt8(connection))
    }

    deinit { free(UnsafeMutableRawPointer(names)) }

    /// The number of the name at `range` of `bytes`, compared without case; 0 if it is another.
    package func find(in bytes: Span<UInt8>, _ range: Range<Int>) -> UInt8 {
        bytes.extracting(range).withUnsafeBufferPointer { bearerd_find_name(names, $0.baseAddress, $0.count) }
    }

    /// Reads field lines (RFC 9112 §5) over the elements of `lines`, up to one that is not complete or not right.
    ///
    /// - Parameters:
    ///   - limit: the most lines.
    ///   - progress: the element at its ``FieldLineProgress/count`` is the first to be overwritten.
    package func read(
        _ head: Span<UInt8>, into lines: inout [FieldEntry], atMost limit: Int,
        _ progress: inout FieldLineProgress
    ) {
        var state = bearerd_fields_read(
            next: progress.next, count: progress.count, present: progress.present, name_is_too_long: false,
            connection: progress.connection.rawValue)
        let room = min(lines.count, limit)
        lines.withUnsafeMutableBytes { lines in
            let fields = lines.baseAddress?.assumingMemoryBound(to: bearerd_field.self)
            head.withUnsafeBufferPointer {
                bearerd_read_field_lines(names, $0.baseAddress, $0.count, fields, room, &state)
            }
        }
        progress.next = state.next
        progress.count = state.count
        progress.present = state.present
        progress.nameIsTooLong = state.name_is_too_long
        progress.connection = ConnectionOption(rawValue: state.connection) ?? .other
    }
}

extension OutputSpan<UInt8> {
    /// Appends the first `count` lines of fields that are in `block`, for which there must be room.
    ///
    /// A line may get a space behind its colon that it lacked.
    package mutating func append(fieldLines lines: [FieldEntry], _ count: Int, of block: [UInt8]) {
        precondition(count <= lines.count, "more lines than there are")
        withUnsafeMutableBufferPointer { buffer, filled in
            guard count > 0, let start = buffer.baseAddress else { return }
            let (room, to) = (buffer.count - filled, start + filled)
            let written = lines.withUnsafeBufferPointer { lines in
                let fields = UnsafeRawPointer(lines.baseAddress)?.assumingMemoryBound(to: bearerd_field.self)
                return block.withUnsafeBufferPointer {
                    bearerd_write_field_lines(fields, count, $0.baseAddress, $0.count, to, room)
                }
            }
            precondition(written >= 0 && written <= room, "no room was made, or a field is not in its block")
            filled += written
        }
    }
}
