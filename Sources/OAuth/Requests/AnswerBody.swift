// SPDX-License-Identifier: Apache-2.0

import JSON

/// The body of an answer, as far as it is JSON.
enum AnswerBody: Sendable {
    case empty
    case object(JSONObject)
    /// JSON, but no object.
    case otherJSON
    case notJSON

    init(_ bytes: [UInt8]) {
        let bytes = Self.withoutByteOrderMark(bytes)
        guard !bytes.allSatisfy({ $0 == 0x20 || 0x09...0x0D ~= $0 }) else {
            self = .empty
            return
        }
        guard let value = Self.parse(bytes) else {
            self = .notJSON
            return
        }
        self = value.object.map(AnswerBody.object) ?? .otherJSON
    }

    private static func parse(_ bytes: [UInt8]) -> JSONValue? {
        do throws(JSONError) {
            return try JSONValue(parsing: bytes)
        } catch .numberOutOfRange {
            // One absurd number must not cost us the refresh token beside it.
            return (try? JSONValue(parsing: withoutHugeExponents(bytes))) ?? memberByMember(bytes)
        } catch {
            return memberByMember(bytes)
        }
    }

    private static func memberByMember(_ bytes: [UInt8]) -> JSONValue? {
        let members = AnswerMembers(bytes)
        return members.isWhole ? .object(members.object) : nil
    }

    /// A text in UTF-8 needs none (RFC 8259 §8.1), but some servers begin with it.
    private static func withoutByteOrderMark(_ bytes: [UInt8]) -> [UInt8] {
        bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    }

    /// A member of an answer that is no whole object, such as one that was cut off.
    static func remainder(of bytes: [UInt8], _ member: ResponseMember) -> JSONValue? {
        AnswerMembers(withoutByteOrderMark(bytes)).object[member.rawValue]
    }

    /// Cuts each exponent outside strings to two digits: still absurd, but a number.
    private static func withoutHugeExponents(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var isInString = false
        var isEscaped = false
        var exponentDigits: Int?
        for byte in bytes {
            if isInString {
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else if byte == UInt8(ascii: "\"") {
                isInString = true
            } else if 0x30...0x39 ~= byte, let digits = exponentDigits {
                exponentDigits = digits + 1
                if digits >= 2 { continue }
            } else if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
                exponentDigits = 0
            } else if byte != UInt8(ascii: "+"), byte != UInt8(ascii: "-") {
                exponentDigits = nil
            }
            output.append(byte)
        }
        return output
    }

    /// A member that is there and not `null`.
    subscript(member: ResponseMember) -> JSONValue? {
        guard case .object(let object) = self, let value = object[member.rawValue], value != .null else {
            return nil
        }
        return value
    }
    /// The printable `error`, if there is one.
    var code: ErrorCode? { self[.error]?.string.flatMap(ErrorCode.init(rawValue:)) }
}
