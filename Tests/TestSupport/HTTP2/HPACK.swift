// SPDX-License-Identifier: Apache-2.0

internal import CBearerdNghttp2

/// Header lists as they are on the wire (RFC 7541).
package enum HPACK {
    /// Literal fields without indexing and without Huffman coding, whatever is in them (RFC 7541 §6.2.2).
    package static func encode(_ fields: [(String, String)]) -> [UInt8] {
        encode(bytes: fields.map { (Array($0.0.utf8), Array($0.1.utf8)) })
    }

    package static func encode(bytes fields: [([UInt8], [UInt8])]) -> [UInt8] {
        fields.flatMap { name, value in [0x00] + string(name) + string(value) }
    }

    /// A literal field that goes into the table of the reader (RFC 7541 §6.2.1).
    package static func indexed(_ name: String, _ value: String) -> [UInt8] {
        [0x40] + string(Array(name.utf8)) + string(Array(value.utf8))
    }

    /// A literal field that no table may ever hold (RFC 7541 §6.2.3).
    package static func neverIndexed(_ name: String, _ value: String) -> [UInt8] {
        [0x10] + string(Array(name.utf8)) + string(Array(value.utf8))
    }

    /// An integer behind a prefix of so many bits, whose other bits are 0 (RFC 7541 §5.1).
    package static func integer(_ value: Int, prefix: Int) -> [UInt8] {
        let largest = 1 << prefix - 1
        guard value >= largest else { return [UInt8(value)] }
        var bytes = [UInt8(largest)]
        var rest = value - largest
        while rest >= 128 {
            bytes.append(UInt8(rest & 0x7F | 0x80))
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    private static func string(_ bytes: [UInt8]) -> [UInt8] { integer(bytes.count, prefix: 7) + bytes }

    /// Reads the header blocks of one direction of a connection.
    package final class Reader {
        private var inflater: OpaquePointer?
        /// The names of the fields of the last block that no table may hold.
        package private(set) var neverIndexed: [String] = []

        package init() { nghttp2_hd_inflate_new(&inflater) }

        deinit { nghttp2_hd_inflate_del(inflater) }

        /// The fields of one whole block; nil if it is none.
        package func fields(of block: [UInt8]) -> [(name: String, value: String)]? {
            var fields: [(name: String, value: String)] = []
            var rest = block[...]
            neverIndexed = []
            while true {
                var field = nghttp2_nv()
                var flags: CInt = 0
                let count = Array(rest).withUnsafeBufferPointer {
                    nghttp2_hd_inflate_hd2(inflater, &field, &flags, $0.baseAddress, $0.count, 1)
                }
                guard count >= 0 else { return nil }
                rest = rest.dropFirst(count)
                if flags & CInt(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                    fields.append((text(field.name, field.namelen), text(field.value, field.valuelen)))
                    if field.flags & UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) != 0 {
                        neverIndexed.append(text(field.name, field.namelen))
                    }
                }
                if flags & CInt(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
                    nghttp2_hd_inflate_end_headers(inflater)
                    return fields
                }
                if count == 0, flags & CInt(NGHTTP2_HD_INFLATE_EMIT.rawValue) == 0 { return nil }
            }
        }

        private func text(_ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int) -> String {
            String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
        }
    }
}
