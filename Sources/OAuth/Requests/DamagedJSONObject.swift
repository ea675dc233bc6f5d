// SPDX-License-Identifier: Apache-2.0

import BearerdJSON

/// The readable members of a JSON object that a strict parser refuses.
///
/// One bad member (half of a surrogate pair, a number out of range, endless nesting, bytes that are not UTF-8) must not
/// cost the refresh token beside it.
struct DamagedJSONObject {
    private(set) var object = JSONObject()
    /// True if the object is closed and nothing but white space follows it.
    private(set) var isWhole = false

    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        readObject()
    }

    private mutating func readObject() {
        guard skip(to: UInt8(ascii: "{")) else { return }
        if skip(to: UInt8(ascii: "}")) { return finish() }
        var members: [(String, JSONValue)] = []
        defer { object = JSONObject(members: members) }
        while let name = string(), skip(to: UInt8(ascii: ":")), let value = value() {
            let isLast = skip(to: UInt8(ascii: "}"))
            let isCut = !isLast && !skip(to: UInt8(ascii: ","))
            // A name with U+0000 is what no strict parser reads again, that of the stored session neither.
            if let name = (try? JSONValue(parsing: name))?.string, !name.utf8.contains(0),
                let value = Self.parse(value)
            {
                members.append((name, value))
            }
            if isLast { return finish() }
            if isCut { return }
        }
    }

    /// The value; a number out of range becomes the largest one, anything else that is malformed nil.
    private static func parse(_ bytes: [UInt8]) -> JSONValue? {
        do throws(JSONError) {
            return try JSONValue(parsing: bytes)
        } catch {
            guard error == .numberOutOfRange, let first = bytes.first else { return nil }
            switch first {
            case UInt8(ascii: "-"): return .real(-.greatestFiniteMagnitude)
            case 0x30...0x39: return .real(.greatestFiniteMagnitude)
            default: return nil
            }
        }
    }

    private mutating func finish() {
        skipSpace()
        isWhole = index == bytes.count
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] == 0x20 || 0x09...0x0D ~= bytes[index] { index += 1 }
    }

    /// Skips white space, then `byte` if it is next; returns false if it is not.
    private mutating func skip(to byte: UInt8) -> Bool {
        skipSpace()
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    /// Consumes a string; returns it with its quotation marks, nil if there is none.
    private mutating func string() -> [UInt8]? {
        skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return nil }
        let start = index
        guard skipString() else { return nil }
        return Array(bytes[start..<index])
    }

    private mutating func skipString() -> Bool {
        index += 1
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index += 1
                return true
            case UInt8(ascii: "\\"):
                index += 2
            default:
                index += 1
            }
        }
        index = bytes.count
        return false
    }

    /// Consumes a value up to the comma or the closing bracket after it, counting nested brackets.
    ///
    /// - Returns: nil if the bytes end before either, unless the value is a string that is closed: the rest of another
    ///   one may be missing.
    private mutating func value() -> [UInt8]? {
        skipSpace()
        let start = index
        var depth = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                guard skipString() else { return nil }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","):
                if depth == 0 { return index > start ? Array(bytes[start..<index]) : nil }
                if bytes[index] != UInt8(ascii: ",") { depth -= 1 }
            default:
                break
            }
            index += 1
        }
        guard start < bytes.count, bytes[start] == UInt8(ascii: "\"") else { return nil }
        return Array(bytes[start...])
    }
}
