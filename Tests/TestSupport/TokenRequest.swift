// SPDX-License-Identifier: Apache-2.0

/// A request to the token endpoint as the test's provider received it.
package struct TokenRequest: Sendable {
    /// The number of the request, from 1, in the order of arrival.
    package let number: Int
    /// The whole message.
    package let message: RawRequest
    /// The form's parameters in order, decoded.
    package let parameters: [(name: String, value: String)]

    init(number: Int, message: RawRequest) {
        self.number = number
        self.message = message
        parameters = message.text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (formDecoded(parts[0]), parts.count > 1 ? formDecoded(parts[1]) : "")
        }
    }

    /// The first value of a parameter.
    package subscript(parameter: String) -> String? {
        parameters.first { $0.name == parameter }?.value
    }

    /// The `grant_type`.
    package var grant: String { self["grant_type"] ?? "" }

    /// The name and password of `Authorization: Basic`, not form-decoded.
    package var basicCredentials: (name: String, password: String)? {
        guard let header = message["Authorization"], header.hasPrefix("Basic "),
            let bytes = base64Decoded(header.dropFirst(6))
        else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
    }
}

/// Decodes one name or value of a form (WHATWG URL, application/x-www-form-urlencoded).
package func formDecoded(_ text: some StringProtocol) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "+") {
            bytes.append(0x20)
        } else if byte == UInt8(ascii: "%"),
            let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
        {
            bytes.append(code)
            rest = rest.dropFirst(2)
        } else {
            bytes.append(byte)
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

/// Decodes base64; nil if a character does not belong.
package func base64Decoded(_ text: some StringProtocol) -> [UInt8]? {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for character in text.utf8 where character != UInt8(ascii: "=") {
        guard let value = alphabet.firstIndex(of: character) else { return nil }
        bits = bits << 6 | UInt32(value)
        count += 6
        if count >= 8 {
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
    }
    return bytes
}
