// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPMessages
import JSON

/// What a provider says to people of a failure (`error_description`, RFC 6749 §5.2), made fit for a line of ours.
///
/// It is the provider's text: it may hold what we sent, or what somebody else should never see. So it is shown only if
/// nothing is in it of a secret that went out with the request, or that the process holds for whatever it is, and without
/// words that look like one.
struct ProviderWords {
    /// The longest text that is shown, in bytes.
    static let longest = 200
    /// How many bytes of what the provider said are looked at.
    private static let longestRead = 1000
    /// Fewer bytes than these in common with a secret may be chance.
    private static let shortestEcho = 8
    /// A word of so many letters and digits may be a secret.
    private static let longestWord = 20

    /// Printable ASCII, at most ``longest`` bytes.
    let text: String

    /// - Parameters:
    ///   - said: what the provider sent.
    ///   - code: the `error` beside it, which is told anyway.
    ///   - secrets: what it was sent.
    /// - Returns: nil if there is nothing that can be shown.
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

    /// The address of a page that may be shown: one with a query may hold anything.
    static func page(_ text: String) -> String? {
        guard text.utf8.count <= longest, let url = HTTPURL(text), url.query == nil, url.scheme != .unix,
            !SecretListing.isRepeated(in: text)
        else {
            return nil
        }
        return text
    }

    /// Whether a text has enough in common with a secret to show a part of it.
    private static func repeats(_ text: [UInt8], oneOf secrets: [[UInt8]]) -> Bool {
        let parts = windows(of: text)
        return secrets.contains { secret in
            guard secret.count >= shortestEcho else {
                return secret.count > 2
                    && String(decoding: text, as: UTF8.self)
                        .contains(String(decoding: secret, as: UTF8.self))
            }
            return !windows(of: secret).isDisjoint(with: parts)
        }
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

    /// Long, and neither lower-case words nor the number of a trace (RFC 9562), which support wants to know.
    private static func isLikeSecret(_ word: Substring) -> Bool {
        guard word.count >= longestWord else { return false }
        let isTrace =
            word.split(separator: "-", omittingEmptySubsequences: false).map(\.count) == [8, 4, 4, 4, 12]
            && word.allSatisfy { $0.isHexDigit || $0 == "-" }
        return !isTrace && !word.allSatisfy { $0.isLowercase || "_-".contains($0) }
    }
}

extension TransferRequest {
    /// Parameters whose values may be seen.
    private static let openParameters: Set<String> = Set(
        [
            TokenParameter.grantType, .redirectURI, .scope, .clientID, .clientAssertionType, .username,
            .subjectTokenType, .requestedTokenType, .audience, .resource,
        ].map(\.rawValue) + [EndingParameter.tokenTypeHint.rawValue])

    /// Every secret that it carries, as sent and as it is without its encoding.
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

extension ProviderResponse {
    /// What a failure says of an answer that is no success: who answered what, and what they say about it.
    var failureDetail: String { "\(place) answered \(status)" + (words.map { ": \"\($0)\"" } ?? "") }

    /// `error_uri`, if it is the address of a page that may be shown.
    var errorPage: String? { AnswerBody(body)[.errorURI]?.string.flatMap(ProviderWords.page) }

    /// What it says to people, if it is an error that says something.
    ///
    /// - Parameter request: what it answers, whose secrets it may repeat.
    func words(answering request: TransferRequest) -> String? {
        let body = AnswerBody(body)
        guard status != 200 || body[.error] != nil, let said = body[.errorDescription]?.string else {
            return nil
        }
        return ProviderWords(said, beside: body.code?.rawValue, hiding: request.secrets)?.text
    }
}
