// SPDX-License-Identifier: Apache-2.0

/// One frame as it is on the wire (RFC 9113 §4.1), right or wrong.
package struct HTTP2Frame: Equatable, Sendable {
    package enum Kind: UInt8, Sendable {
        case data, headers, priority, resetStream, settings, pushPromise, ping, goaway, windowUpdate,
            continuation
    }

    package static let endStream: UInt8 = 0x1
    package static let acknowledgement: UInt8 = 0x1
    package static let endHeaders: UInt8 = 0x4
    package static let padded: UInt8 = 0x8
    package static let withPriority: UInt8 = 0x20

    /// What a client sends first (RFC 9113 §3.4).
    package static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    package var type: UInt8
    package var flags: UInt8
    package var stream: UInt32
    package var payload: [UInt8]

    package init(_ kind: Kind, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) {
        self.init(type: kind.rawValue, flags: flags, stream: stream, payload)
    }

    package init(type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) {
        self.type = type
        self.flags = flags
        self.stream = stream
        self.payload = payload
    }

    package var kind: Kind? { Kind(rawValue: type) }

    package func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

    /// The four bytes at an offset of the payload, as RST_STREAM, GOAWAY and WINDOW_UPDATE have them.
    package func number(at offset: Int = 0) -> UInt32 {
        payload.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    package var bytes: [UInt8] {
        let length = UInt32(payload.count)
        return Self.bytes(of: length, 3) + [type, flags] + Self.bytes(of: stream, 4) + payload
    }

    /// Takes a whole frame off the front of `bytes`; nil if there is none.
    package static func take(from bytes: inout [UInt8]) -> HTTP2Frame? {
        guard bytes.count >= 9 else { return nil }
        let length = bytes.prefix(3).reduce(0) { $0 << 8 | Int($1) }
        guard bytes.count >= 9 + length else { return nil }
        let stream = bytes[5..<9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let frame = HTTP2Frame(
            type: bytes[3], flags: bytes[4], stream: stream, Array(bytes[9..<(9 + length)]))
        bytes.removeFirst(9 + length)
        return frame
    }

    package static func bytes(of number: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> UInt32(8 * $0)) }
    }

    // MARK: Usual frames

    package static func settings(_ values: [(UInt16, UInt32)] = []) -> HTTP2Frame {
        HTTP2Frame(.settings, values.flatMap { bytes(of: UInt32($0.0), 2) + bytes(of: $0.1, 4) })
    }

    package static let settingsAcknowledgement = HTTP2Frame(.settings, flags: acknowledgement)

    /// A head in one frame.
    package static func head(
        _ fields: [(String, String)], stream: UInt32, endsStream: Bool = true
    ) -> HTTP2Frame {
        HTTP2Frame(
            .headers, flags: endHeaders | (endsStream ? endStream : 0), stream: stream, HPACK.encode(fields))
    }

    package static func data(_ text: String, stream: UInt32, endsStream: Bool = false) -> HTTP2Frame {
        HTTP2Frame(.data, flags: endsStream ? endStream : 0, stream: stream, Array(text.utf8))
    }

    package static func windowUpdate(_ increment: UInt32, stream: UInt32 = 0) -> HTTP2Frame {
        HTTP2Frame(.windowUpdate, stream: stream, bytes(of: increment, 4))
    }

    package static func reset(_ stream: UInt32, code: UInt32 = 0x8) -> HTTP2Frame {
        HTTP2Frame(.resetStream, stream: stream, bytes(of: code, 4))
    }
}
