// SPDX-License-Identifier: Apache-2.0

/// JSON as the tests read it: independent of the parser under test, and strict enough to notice rubbish.
package enum TestJSON: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([TestJSON])
    case object([String: TestJSON])

    /// Reads a whole document; nil if it is not one.
    package init?(parsing text: some StringProtocol) {
        var reader = Reader(bytes: Array(text.utf8))
        guard let value = reader.value(), reader.isAtEnd else { return nil }
        self = value
    }

    /// A member of an object, else null.
    package subscript(member: String) -> TestJSON {
        if case .object(let members) = self { members[member] ?? .null } else { .null }
    }

    /// An element of an array, else null.
    package subscript(index: Int) -> TestJSON {
        array.indices.contains(index) ? array[index] : .null
    }

    /// The text, if it is a string.
    package var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The number, if it is one.
    package var number: Double? { if case .number(let number) = self { number } else { nil } }

    /// The elements; none if it is not an array.
    package var array: [TestJSON] { if case .array(let elements) = self { elements } else { [] } }

    /// The members; none if it is not an object.
    package var object: [String: TestJSON] { if case .object(let members) = self { members } else { [:] } }
}

private struct Reader {
    let bytes: [UInt8]
    var position = 0

    var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return position == bytes.count
        }
    }

    mutating func value() -> TestJSON? {
        skipSpace()
        guard position < bytes.count else { return nil }
        switch bytes[position] {
        case UInt8(ascii: "{"): return object()
        case UInt8(ascii: "["): return array()
        case UInt8(ascii: "\""): return string().map(TestJSON.string)
        case UInt8(ascii: "t"): return word("true", .bool(true))
        case UInt8(ascii: "f"): return word("false", .bool(false))
        case UInt8(ascii: "n"): return word("null", .null)
        default: return number()
        }
    }

    private mutating func object() -> TestJSON? {
        position += 1
        var members: [String: TestJSON] = [:]
        if take("}") { return .object(members) }
        repeat {
            skipSpace()
            guard let name = string(), take(":"), let value = value(), members[name] == nil else {
                return nil
            }
            members[name] = value
        } while take(",")
        return take("}") ? .object(members) : nil
    }

    private mutating func array() -> TestJSON? {
        position += 1
        var elements: [TestJSON] = []
        if take("]") { return .array(elements) }
        repeat {
            guard let value = value() else { return nil }
            elements.append(value)
        } while take(",")
        return take("]") ? .array(elements) : nil
    }

    private mutating func string() -> String? {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return nil }
        position += 1
        var units: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: units, as: UTF8.self)
            case 0..<0x20: return nil
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                units += Array(String(scalar).utf8)
            default: units.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> Character? {
        guard position < bytes.count else { return nil }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Character(Unicode.Scalar(byte))
        case UInt8(ascii: "u"):
            guard position + 4 <= bytes.count,
                let code = UInt32(
                    String(decoding: bytes[position..<(position + 4)], as: UTF8.self), radix: 16)
            else { return nil }
            position += 4
            return Unicode.Scalar(code).map { Character($0) } ?? "\u{FFFD}"
        default: return nil
        }
    }

    private mutating func number() -> TestJSON? {
        let start = position
        while position < bytes.count, "+-.eE0123456789".utf8.contains(bytes[position]) { position += 1 }
        return Double(String(decoding: bytes[start..<position], as: UTF8.self)).map(TestJSON.number)
    }

    private mutating func word(_ word: String, _ value: TestJSON) -> TestJSON? {
        guard bytes[position...].starts(with: word.utf8) else { return nil }
        position += word.utf8.count
        return value
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }
}
