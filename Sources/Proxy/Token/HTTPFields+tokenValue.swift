// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

extension HTTPFields {
    /// The fields in which upstreams repeat the target of a request, or nest it in another one.
    private static let repeating =
        [.location] + ["Content-Location", "Link", "Refresh"].compactMap { HTTPFields.Name($0) }
    /// The number of encodings one over the other: a login page has the target of the page before in its own query.
    private static let mostLayers = 3
    /// A shorter value may stand anywhere by chance; its parameter is removed by its name alone.
    private static let shortest = 8

    /// Removes a token from the fields that may repeat it, however often it is percent-encoded there; a field in which it
    /// is encoded in yet another way goes as a whole.
    mutating func removeValue(_ token: String) {
        guard token.utf8.count >= Self.shortest else { return }
        for name in Self.repeating where contains(name) {
            let before = values(of: name)
            let after = before.compactMap { Self.removing(token, from: $0) }
            guard after != before else { continue }
            self[name] = after.isEmpty ? nil : after.joined(separator: ", ")
        }
    }

    private static func removing(_ token: String, from value: String) -> String? {
        var (text, encoded) = (value, token)
        for _ in 0...mostLayers {
            text = text.replacing(encoded, with: "")
            encoded = PercentEncoding.encoded(encoded)
        }
        var decoded = text
        for _ in 0...mostLayers {
            if decoded.contains(token) { return nil }
            guard let next = PercentEncoding.decode(Array(decoded.utf8)) else { break }
            decoded = next
        }
        return text
    }
}
