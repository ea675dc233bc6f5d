// SPDX-License-Identifier: Apache-2.0

/// A reply of a Redis server (RESP version 2).
package enum RESPValue: Equatable, Sendable {
    /// A status, such as `OK`.
    case status([UInt8])
    /// A code in capital letters, and a text.
    case error([UInt8])
    case integer(Int64)
    case bytes([UInt8])
    case null
    case array([RESPValue])

    /// The bytes of a string or status.
    package var bytes: [UInt8]? {
        switch self {
        case .bytes(let bytes), .status(let bytes): bytes
        case .error, .integer, .null, .array: nil
        }
    }

    package var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    package var array: [RESPValue]? {
        if case .array(let values) = self { values } else { nil }
    }

    /// The code of an error: its first word, or `ERR`.
    package var errorCode: String? {
        guard case .error(let bytes) = self else { return nil }
        let word = bytes.prefix { $0 != UInt8(ascii: " ") }
        let isCode = word.allSatisfy { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }
        return isCode && (1...32).contains(word.count) ? String(decoding: word, as: UTF8.self) : "ERR"
    }
}
