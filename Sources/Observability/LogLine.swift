// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSONText

/// Builds one log line in either format.
struct LogLine: ~Copyable {
    /// The longest value in bytes; the rest is replaced by an ellipsis.
    static let valueLimit = 1024

    private let format: LogFormat
    private var bytes: [UInt8]

    init(format: LogFormat) {
        self.format = format
        bytes = []
        bytes.reserveCapacity(256)
        if format == .json { bytes.append(UInt8(ascii: "{")) }
    }

    /// Adds the fields that begin every line; the text format omits their names.
    mutating func begin(unixMilliseconds: Int64, level: LogLevel, message: String) {
        var timestamp = Timestamp()
        switch format {
        case .json:
            appendKey(.time)
            bytes.append(UInt8(ascii: "\""))
            timestamp.append(unixMilliseconds: unixMilliseconds, to: &bytes)
            bytes.append(contentsOf: "\",".utf8)
            add(.level, .string(level.name))
            add(.message, .string(message))
        case .text, .colouredText:
            timestamp.append(unixMilliseconds: unixMilliseconds, to: &bytes)
            bytes.append(UInt8(ascii: " "))
            let colour = format == .colouredText ? level.colour : nil
            if let colour { bytes.append(contentsOf: "\u{1B}[\(colour)m".utf8) }
            bytes.append(contentsOf: level.name.utf8)
            if colour != nil { bytes.append(contentsOf: "\u{1B}[0m".utf8) }
            bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 8 - level.name.utf8.count))
            bytes.append(contentsOf: message.utf8)
            bytes.append(UInt8(ascii: " "))
        }
    }

    mutating func add(_ key: LogKey, _ value: LogValue) {
        appendKey(key)
        switch value {
        case .string(let text): appendText(text)
        case .integer(let number): bytes.append(decimal: number)
        case .duration(let duration): bytes.append(seconds: duration)
        case .boolean(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
        }
        bytes.append(format == .json ? UInt8(ascii: ",") : UInt8(ascii: " "))
    }

    /// Ends the line in place of the separator after the last field.
    consuming func finished() -> [UInt8] {
        bytes.removeLast()
        if format == .json { bytes.append(UInt8(ascii: "}")) }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private mutating func appendKey(_ key: LogKey) {
        switch format {
        case .json:
            bytes.append(UInt8(ascii: "\""))
            bytes.append(contentsOf: key.name.utf8)
            bytes.append(contentsOf: "\":".utf8)
        case .text:
            bytes.append(contentsOf: key.name.utf8)
            bytes.append(UInt8(ascii: "="))
        case .colouredText:
            bytes.append(contentsOf: "\u{1B}[2m".utf8)
            bytes.append(contentsOf: key.name.utf8)
            bytes.append(contentsOf: "=\u{1B}[0m".utf8)
        }
    }

    private mutating func appendText(_ text: String) {
        let isBare = format != .json && !text.isEmpty && text.utf8.allSatisfy(Self.isBare)
        if isBare && text.utf8.count <= Self.valueLimit {
            bytes.append(contentsOf: text.utf8)
        } else {
            bytes.append(UInt8(ascii: "\""))
            bytes.append(jsonEscaping: text, limit: Self.valueLimit)
            bytes.append(UInt8(ascii: "\""))
        }
    }

    /// Returns true for bytes that need no quotes in the text format.
    private static func isBare(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
            && byte != UInt8(ascii: "=")
    }
}

extension LogLevel {
    /// The colour on a terminal, by its parameter of SGR (ECMA-48 8.3.117); nil for the terminal's own.
    fileprivate var colour: String? {
        switch self {
        case .trace, .debug: "2"
        case .info: nil
        case .notice: "32"
        case .warning: "33"
        case .error: "31"
        }
    }
}
