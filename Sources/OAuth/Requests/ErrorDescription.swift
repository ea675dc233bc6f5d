// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON

/// A server's `error_description` (RFC 6749 §5.2), made safe to show.
///
/// The server may repeat what it was sent. So a text that shares a run of bytes with a secret of the request, or with any
/// secret that this process holds, is not shown at all, and words that look like secrets are left out of the others.
struct ErrorDescription {
    /// The longest text that is shown, in bytes.
    static let longest = 200
    /// The rest of a longer text is ignored; in bytes.
    private static let longestRead = 1000
    /// The shortest run of bytes in common with a secret that counts; a shorter one may be chance.
    private static let shortestEcho = 8
    /// A word of this many letters and digits may be a secret.
    private static let longestWord = 20

    /// Printable ASCII, at most ``longest`` bytes.
    let text: String

    /// - Parameters:
    ///   - said: the text as received.
    ///   - code: the `error` beside it, which is left out of the text because it is shown anyway.
    ///   - secrets: those that were sent to the server.
    /// - Returns: nil if nothing may be shown.
    init?(_ said: String, beside code: String?, hiding secrets: [[UInt8]]) {
        let read = Array(said.utf8.prefix(Self.longestRead))
        guard !Self.repeats(read, oneOf: secrets),
            !SecretListing.isRepeated(in: String(decoding: read, as: UTF8.self))
        else { return nil }
        let printable = said.unicodeScalars.prefix(Self.longestRead).map { scalar -> Character in
            switch scalar.value {
            case 0x22: "'"
            case 0x20...0x7E: Character(scalar)
            case 0x09, 0x0A, 0x0D: " "
            default: "?"
            }
        }
        var text = Self.withoutLongWords(String(printable))
        if let code { text = text.replacing(code, with: "") }
        let blanks = " :;,.-"
        let trimmed = text.drop { blanks.contains($0) }
        let words = trimmed.split(separator: " ").joined(separator: " ")
        guard words.contains(where: \.isLetter) else { return nil }
        self.text = words.utf8.count <= Self.longest ? words : words.prefix(Self.longest - 3) + "..."
    }

    /// Returns `text` if it is a URL that may be shown: short, without a query, and without a known secret.
    static func page(_ text: String) -> String? {
        guard text.utf8.count <= longest, let url = HTTPURL(text), url.query == nil, url.scheme != .unix,
            !SecretListing.isRepeated(in: text)
        else {
            return nil
        }
        return text
    }

    /// Returns true if `text` has a part of one of the secrets.
    private static func repeats(_ text: [UInt8], oneOf secrets: [[UInt8]]) -> Bool {
        let parts = windows(of: text)
        return secrets.contains { secret in
            guard secret.count >= shortestEcho else {
                return secret.count > 2
                    && String(decoding: text, as: UTF8.self)
                        .contains(String(decoding: secret, as: UTF8.self))
            }
            return holds(secret, oneOf: parts)
        }
    }

    /// Returns true if `bytes` have one of these runs.
    private static func holds(_ bytes: [UInt8], oneOf runs: Set<UInt64>) -> Bool {
        var window: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            window = window << 8 | UInt64(byte)
            if index >= shortestEcho - 1, runs.contains(window) { return true }
        }
        return false
    }

    /// Every run of ``shortestEcho`` bytes, as a number.
    private static func windows(of bytes: [UInt8]) -> Set<UInt64> {
        var windows: Set<UInt64> = []
        var window: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            window = window << 8 | UInt64(byte)
            if index >= shortestEcho - 1 { windows.insert(window) }
        }
        return windows
    }

    private static func withoutLongWords(_ text: String) -> String {
        var result = ""
        var rest = Substring(text)
        while !rest.isEmpty {
            let word = rest.prefix { $0.isLetter || $0.isNumber || "_-+=~".contains($0) }
            result += isLikeSecret(word) ? "..." : word
            rest = rest[word.endIndex...]
            if let separator = rest.popFirst() { result.append(separator) }
        }
        return result
    }

    /// Returns true for a long word that is neither lower case nor a UUID (RFC 9562), as traces have.
    private static func isLikeSecret(_ word: Substring) -> Bool {
        guard word.count >= longestWord else { return false }
        let isTrace =
            word.split(separator: "-", omittingEmptySubsequences: false).map(\.count) == [8, 4, 4, 4, 12]
            && word.allSatisfy { $0.isHexDigit || $0 == "-" }
        return !isTrace && !word.allSatisfy { $0.isLowercase || "_-".contains($0) }
    }
}

extension TransferRequest {
    /// The form parameters that are no secrets.
    private static let openParameters: Set<String> = Set(
        [
            TokenParameter.grantType, .redirectURI, .scope, .clientID, .clientAssertionType, .username,
            .subjectTokenType, .requestedTokenType, .audience, .resource,
        ].map(\.rawValue) + [LogoutParameter.tokenTypeHint.rawValue])

    /// Every secret that the request carries in `Authorization` or its form, both encoded and decoded.
    var secrets: [[UInt8]] {
        var secrets: [[UInt8]] = []
        if let value = fields[.authorization], let credentials = value.split(separator: " ").last {
            secrets.append(Array(credentials.utf8))
            if let pair = Base64.decode(String(credentials)),
                let colon = pair.firstIndex(of: UInt8(ascii: ":"))
            {
                append(pair[(colon + 1)...], to: &secrets)
            }
        }
        guard fields[.contentType] == FormBody.contentType else { return secrets }
        for pair in body.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1)
            guard parts.count == 2, !Self.openParameters.contains(String(decoding: parts[0], as: UTF8.self))
            else { continue }
            append(parts[1], to: &secrets)
        }
        return secrets
    }

    private func append(_ value: ArraySlice<UInt8>, to secrets: inout [[UInt8]]) {
        secrets.append(Array(value))
        if let plain = PercentEncoding.decode(value, isForm: true) { secrets.append(Array(plain.utf8)) }
    }
}
