// SPDX-License-Identifier: Apache-2.0

/// Decodes a text from the encodings in which a peer may repeat a secret: percent-encoding, JSON strings, HTML and
/// base 64.
enum DisguisedText {
    /// The number of encodings that may be applied one over the other.
    private static let mostLayers = 2
    /// The shortest run of base 64 that may hold a piece of a secret.
    private static let shortestRun = 11
    private static let plus = UInt8(ascii: "+")

    /// The text itself, and every way to decode it.
    static func readings(of text: [UInt8]) -> [[UInt8]] {
        var readings: [[UInt8]] = [text]
        var newest = readings
        for _ in 0..<mostLayers {
            let undone = newest.flatMap { layer in
                Escape.allCases.compactMap { $0.undone(in: layer) } + runs(in: layer)
            }
            newest = []
            for reading in undone where !readings.contains(reading) {
                readings.append(reading)
                newest.append(reading)
            }
        }
        return readings
            + readings.filter { $0.contains(plus) }.map { $0.map { $0 == plus ? UInt8(ascii: " ") : $0 } }
    }

    /// The decoded runs of base 64 (as in an echoed `Basic` credential), for each offset at which a group of four may
    /// begin.
    private static func runs(in text: [UInt8]) -> [[UInt8]] {
        let runs = text.split { !isBase64($0) }.filter { $0.count >= shortestRun }.map { run in
            run.map { byte in
                switch byte {
                case UInt8(ascii: "-"): plus
                case UInt8(ascii: "_"): UInt8(ascii: "/")
                default: byte
                }
            }
        }
        guard !runs.isEmpty else { return [] }
        return (0..<4).map { start in
            Array(runs.compactMap { decoded($0[start...]) }.joined(separator: [0x20]))
        }
    }

    private static func decoded(_ run: ArraySlice<UInt8>) -> [UInt8]? {
        let padding = String(repeating: "=", count: (4 - run.count % 4) % 4)
        return Base64.decode(String(decoding: run, as: UTF8.self) + padding)
            ?? Base64.decode(String(decoding: run.prefix(run.count / 4 * 4), as: UTF8.self))
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), plus, UInt8(ascii: "/"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// A kind of escape sequence.
private enum Escape: CaseIterable {
    /// `%41`, of forms and URLs.
    case percent
    /// `\u0041`, `\x41` and `\/`, of JSON and other strings.
    case backslash
    /// `&#65;` and `&#x41;`, of HTML.
    case entity

    private var sign: UInt8 {
        switch self {
        case .percent: UInt8(ascii: "%")
        case .backslash: UInt8(ascii: "\\")
        case .entity: UInt8(ascii: "&")
        }
    }

    /// The text with all escapes of this kind decoded; nil if it has none.
    func undone(in text: [UInt8]) -> [UInt8]? {
        guard text.contains(sign) else { return nil }
        var plain: [UInt8] = []
        plain.reserveCapacity(text.count)
        var rest = text[...]
        while let byte = rest.popFirst() {
            if byte == sign, let meant = escaped(at: &rest) { plain += meant } else { plain.append(byte) }
        }
        return plain
    }

    /// The bytes that an escape stands for; nil if there is no escape at `rest`.
    private func escaped(at rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        switch self {
        case .percent:
            return Self.number(at: &rest, digits: 2...2, radix: 16).flatMap { UInt8(exactly: $0) }.map {
                [$0]
            }
        case .backslash:
            guard let kind = rest.popFirst() else { return nil }
            let digits = kind == UInt8(ascii: "u") ? 4 : kind == UInt8(ascii: "x") ? 2 : 0
            guard digits > 0 else { return [kind] }
            return Self.number(at: &rest, digits: digits...digits, radix: 16).flatMap(Self.text) ?? [kind]
        case .entity:
            var after = rest
            guard after.popFirst() == UInt8(ascii: "#") else { return nil }
            let isHexadecimal = after.first == UInt8(ascii: "x") || after.first == UInt8(ascii: "X")
            if isHexadecimal { after = after.dropFirst() }
            let number = Self.number(at: &after, digits: 1...7, radix: isHexadecimal ? 16 : 10)
            guard let text = number.flatMap(Self.text) else { return nil }
            rest = after.first == UInt8(ascii: ";") ? after.dropFirst() : after
            return text
        }
    }

    private static func text(_ number: Int) -> [UInt8]? {
        UnicodeScalar(UInt32(number)).map { Array(String($0).utf8) }
    }

    private static func number(
        at rest: inout ArraySlice<UInt8>, digits: ClosedRange<Int>, radix: Int
    ) -> Int? {
        var (value, count) = (0, 0)
        for byte in rest.prefix(digits.upperBound) {
            guard let digit = Character(UnicodeScalar(byte)).hexDigitValue, digit < radix else { break }
            value = value * radix + digit
            count += 1
        }
        guard digits ~= count else { return nil }
        rest = rest.dropFirst(count)
        return value
    }
}
