// SPDX-License-Identifier: Apache-2.0

internal import BearerdRESP

extension Invariants {
    private enum Reading: Equatable {
        case incomplete
        case whole(RESPValue, Int)
        case refused
    }

    private static func reading(_ bytes: ArraySlice<UInt8>) -> Reading {
        do throws(RESPError) {
            return try RESPParser.parse(Array(bytes).span).map { .whole($0.value, $0.length) } ?? .incomplete
        } catch {
            return .refused
        }
    }

    /// Checks the RESP reader.
    package static func violation(resp bytes: [UInt8]) -> String? {
        let whole = reading(bytes[...])
        // At most so many prefixes: the rest says the same.
        for count in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 64)) {
            let part = reading(bytes.prefix(count))
            switch (part, whole) {
            case (.incomplete, _), (.refused, .refused): continue
            case (.whole(_, let length), .whole) where part == whole && length <= count: continue
            default: return "\(count) bytes read as \(part), all of them as \(whole)"
            }
        }
        guard case .whole(let value, let length) = whole else { return nil }
        guard length > 0, length <= bytes.count else { return "a value of \(length) bytes" }
        guard case .array(let values) = value else { return nil }
        let parts = values.compactMap(\.bytes)
        guard !parts.isEmpty, parts.count == values.count else { return nil }
        let command = RESPCommand(parts).encoded
        guard case .whole(.array(let again), command.count) = reading(command[...]) else {
            return "a command that is no array"
        }
        return again.compactMap(\.bytes) == parts ? nil : "written again it reads differently"
    }
}
