// SPDX-License-Identifier: Apache-2.0

/// The persistence string: `name=value` pairs between `&`, percent-encoded.
///
/// Three dialects exist: gtm-oauth2 leaves the access token out where there is a refresh token; GTMAppAuth up to 2
/// always writes it; GTMAppAuth from 3 on renames `email` and `isVerified`, which nobody needs here, and leaves
/// `%`, `#`, `[` and `]` as they are. One reader does for all: what is no escape is taken as it stands, the first
/// `=` ends a name, the last of equal names counts, `+` is no space.
struct GTMOAuth2String {
    private enum Name: String {
        case refreshToken = "refresh_token"
        case accessToken = "access_token"
        case scope
    }

    private var values: [Name: String] = [:]

    init(_ text: String) throws(ImportError) {
        for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first.flatMap(Self.decode),
                let value = Self.decode(parts.dropFirst().first)
            else { throw .malformed("it is no text once decoded") }
            if let known = Name(rawValue: name) { values[known] = value }
        }
        guard values[.refreshToken] != nil || values[.accessToken] != nil else {
            throw .malformed("it is no GTMOAuth2 string: there is neither refresh_token= nor access_token=")
        }
    }

    func session() throws(ImportError) -> ImportedSession {
        var session = try ImportedSession(refreshToken: values[.refreshToken])
        session.take(scope: values[.scope])
        return session
    }

    private static func decode(_ text: Substring.UTF8View?) -> String? {
        var bytes: [UInt8] = []
        var rest = (text ?? "".utf8[...])
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let escaped = UInt8(hexadecimal: rest.prefix(2)) {
                bytes.append(escaped)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    /// Two hexadecimal digits; nil if that is not what the text is.
    fileprivate init?(hexadecimal text: Substring.UTF8View) {
        let text = Substring(text)
        guard text.utf8.count == 2, text.allSatisfy(\.isHexDigit) else { return nil }
        self.init(text, radix: 16)
    }
}
