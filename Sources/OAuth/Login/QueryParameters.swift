// SPDX-License-Identifier: Apache-2.0

/// The parameters of a query (`application/x-www-form-urlencoded`, RFC 6749 appendix B).
struct QueryParameters {
    private var values: [String: String] = [:]

    /// - Parameter query: without the `?`.
    /// - Returns: nil for broken encoding, and for a name that is given twice (RFC 6749 §3.1).
    init?(_ query: String) {
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let mark = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = Self.decode(pair[..<mark]), let value = Self.decode(pair[mark...].dropFirst()),
                values.updateValue(value, forKey: name) == nil
            else { return nil }
        }
    }

    /// The value of a parameter; one without a value counts as omitted (RFC 6749 §3.1).
    subscript(parameter: AuthorizationParameter) -> String? {
        values[parameter.rawValue].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Undoes form encoding; nil for a broken escape or what is not UTF-8.
    private static func decode(_ encoded: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = encoded
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
                else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
