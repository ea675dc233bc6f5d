// SPDX-License-Identifier: Apache-2.0

/// A parameter of a query, found by its name however that is encoded.
package struct QueryParameter: Hashable, Sendable {
    /// The name as it is meant, not as it is encoded.
    package let name: String
    private let nameBytes: [UInt8]

    package init(_ name: String) {
        self.name = name
        nameBytes = Array(name.utf8)
    }

    /// Removes every parameter of the name from a target or a URL; the rest stays as it is.
    ///
    /// Both `&` and `;` count as separators: some servers read the latter as one too.
    package func remove(from target: inout [UInt8]) {
        let end = target.firstIndex(of: Byte.numberSign) ?? target.count
        guard let mark = target[..<end].firstIndex(of: Byte.questionMark),
            contains(in: target[(mark + 1)..<end])
        else { return }
        var kept: [UInt8] = []
        var isFirst = true
        var start = mark + 1
        while start <= end {
            let stop = target[start..<end].firstIndex(where: Self.separates) ?? end
            let piece = target[start..<stop]
            if !isNamed(piece) {
                if !isFirst { kept.append(target[start - 1]) }
                kept += piece
                isFirst = false
            }
            start = stop + 1
        }
        // A mark without anything behind it is another URL to some, and nobody has written one.
        target.replaceSubrange((isFirst ? mark : mark + 1)..<end, with: kept)
    }

    /// Appends the parameter, percent-encoded, behind all others.
    package func append(_ value: Span<UInt8>, to target: inout [UInt8]) {
        let hasQuery = target.contains(Byte.questionMark)
        let isOpen = target.last == Byte.questionMark || target.last == Byte.ampersand
        if !hasQuery { target.append(Byte.questionMark) } else if !isOpen { target.append(Byte.ampersand) }
        PercentEncoding.encode(name, into: &target)
        target.append(Byte.equals)
        for index in value.indices { PercentEncoding.encode(value[index], into: &target) }
    }

    private func contains(in query: ArraySlice<UInt8>) -> Bool {
        query.split(whereSeparator: Self.separates).contains(where: isNamed)
    }

    /// Returns true for a `name=value` or `name` whose name is ours (RFC 3986 §2.1, `+` for a space in forms).
    private func isNamed(_ piece: ArraySlice<UInt8>) -> Bool {
        var rest = piece.prefix { $0 != Byte.equals }
        var position = 0
        while let first = rest.popFirst() {
            var byte = first == Byte.plus ? Byte.space : first
            if first == Byte.percent, rest.count >= 2,
                let high = rest[rest.startIndex].hexadecimalValue,
                let low = rest[rest.startIndex + 1].hexadecimalValue
            {
                byte = high << 4 | low
                rest = rest.dropFirst(2)
            }
            guard position < nameBytes.count, nameBytes[position] == byte else { return false }
            position += 1
        }
        return position == nameBytes.count
    }

    private static func separates(_ byte: UInt8) -> Bool {
        byte == Byte.ampersand || byte == Byte.semicolon
    }
}
