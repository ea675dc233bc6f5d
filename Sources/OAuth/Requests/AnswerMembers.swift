// SPDX-License-Identifier: Apache-2.0

import JSON

/// The members of a JSON object that cannot be read as a whole, as far as they can be read one by one.
///
/// One member that is wrong (half of a surrogate pair, a number beyond all bounds, nesting without end, bytes that are
/// no UTF-8) must not cost the refresh token beside it.
struct AnswerMembers {
    private(set) var object = JSONObject()
    /// Whether the object ends where it should, and nothing follows it.
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
        while let name = string(), skip(to: UInt8(ascii: ":")), let value = value() {
            let isLast = skip(to: UInt8(ascii: "}"))
            // A value that was cut off may look like a whole one.
            guard isLast || skip(to: UInt8(ascii: ",")) else { return }
            if let name = (try? JSONValue(parsing: name))?.string, let value = try? JSONValue(parsing: value)
            {
                object[name] = value
            }
            if isLast { return finish() }
        }
    }

    private mutating func finish() {
        skipSpace()
        isWhole = index == bytes.count
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] == 0x20 || 0x09...0x0D ~= bytes[index] { index += 1 }
    }

    /// Steps over white space, and over `byte` if that comes next.
    private mutating func skip(to byte: UInt8) -> Bool {
        skipSpace()
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    /// The string that comes next, with its quotation marks.
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

    /// Whatever comes next up to the comma or the bracket that ends it, brackets in pairs.
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
        return nil
    }
}
