// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography

/// The persistence string: `name=value` pairs between `&`, percent-encoded.
///
/// There are three dialects: gtm-oauth2 leaves the access token out if there is a refresh token, GTMAppAuth up to
/// version 2 always writes it, and GTMAppAuth from 3 on renames `email` and `isVerified` and does not encode `%`,
/// `#`, `[` and `]`. One reader suffices: invalid escapes are taken literally, the first `=` ends a name, the last of
/// equal names counts, and `+` is no space.
struct GTMOAuth2String {
    private enum Name: String {
        case refreshToken = "refresh_token"
        case accessToken = "access_token"
        case scope
        case userID
        case email
        case userEmail
        case isVerified
        case userEmailIsVerified
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
        session.take(
            userID: values[.userID], email: values[.userEmail] ?? values[.email],
            isVerified: values[.userEmailIsVerified] ?? values[.isVerified])
        return session
    }

    /// The string for gtm-oauth2 and GTMAppAuth (from 3 on without the address): names sorted without case,
    /// everything but unreserved characters encoded.
    static func text(of session: ImportedSession) -> Secret {
        var pairs: [(Name, String?)] = [
            (.email, session.userEmail),
            (.isVerified, session.userEmail.map { _ in session.isEmailVerified ? "1" : "0" }),
        ]
        pairs.append((.refreshToken, session.refreshToken.withPlaintext { $0 }))
        pairs.append((.scope, session.scope.isEmpty ? nil : session.scope.joined(separator: " ")))
        pairs.append((.userID, session.userID))
        let fields = pairs.compactMap { name, value in value.map { "\(name.rawValue)=\(encode($0))" } }
        return Secret(fields.joined(separator: "&"))
    }

    private static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                encoded.append(Character(UnicodeScalar(byte)))
            case _ where "-._~".utf8.contains(byte):
                encoded.append(Character(UnicodeScalar(byte)))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return encoded
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
    /// Two hexadecimal digits; nil for any other text.
    fileprivate init?(hexadecimal text: Substring.UTF8View) {
        let text = Substring(text)
        guard text.utf8.count == 2, text.allSatisfy(\.isHexDigit) else { return nil }
        self.init(text, radix: 16)
    }
}
