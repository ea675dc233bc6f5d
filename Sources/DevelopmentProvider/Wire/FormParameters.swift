// SPDX-License-Identifier: Apache-2.0

/// The parameters of a query or a form (`application/x-www-form-urlencoded`, RFC 6749 appendix B).
struct FormParameters {
    private var values: [(name: String, value: String)] = []

    /// Reads parameters.
    ///
    /// - Parameter encoded: without the `?`.
    /// - Throws: `invalid_request` for broken encoding, and for a known parameter that is given twice (§3.1).
    init(_ encoded: some Collection<UInt8>) throws(ProviderError) {
        for pair in encoded.split(separator: UInt8(ascii: "&")) {
            let mark = pair.firstIndex(of: UInt8(ascii: "="))
            guard let name = FormParameters.decode(pair[..<(mark ?? pair.endIndex)]),
                let value = FormParameters.decode(
                    mark.map { pair[$0...].dropFirst() } ?? pair[pair.endIndex...])
            else { throw ProviderError(.invalidRequest, "the parameters are not form-encoded UTF-8") }
            values.append((name, value))
        }
        for parameter in Parameter.allCases where parameter != .resource && all(parameter).count > 1 {
            throw ProviderError(.invalidRequest, "\(parameter.rawValue) is given more than once")
        }
    }

    /// The value of a parameter; one without a value counts as omitted (RFC 6749 §3.1).
    subscript(parameter: Parameter) -> String? { all(parameter).first { !$0.isEmpty } }

    /// Every value of a parameter that may repeat.
    func all(_ parameter: Parameter) -> [String] {
        values.filter { $0.name == parameter.rawValue }.map(\.value)
    }

    /// Asks for a parameter that must be there.
    ///
    /// - Throws: `invalid_request` if it is not.
    func required(_ parameter: Parameter) throws(ProviderError) -> String {
        guard let value = self[parameter] else {
            throw ProviderError(.invalidRequest, "\(parameter.rawValue) is missing")
        }
        return value
    }

    /// Undoes form encoding; nil for a broken escape or what is not UTF-8.
    static func decode(_ encoded: some Collection<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = encoded[...]
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
        Unicode.Scalar(byte).properties.isASCIIHexDigit
            ? UInt8(String(Unicode.Scalar(byte)), radix: 16) : nil
    }

    /// Form encoding of one name or value.
    static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }
}
