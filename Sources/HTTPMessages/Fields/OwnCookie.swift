// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// The cookies of bearerd's admin listener.
///
/// Cookies know no port (RFC 6265 §8.5): browsers send them to every listener of the host, and accept them from each.
package enum OwnCookie {
    /// The beginning of their names.
    package static let prefix = "bearerd_"

    /// Returns true if a cookie in `Cookie` or `Set-Cookie` may get such a name.
    ///
    /// A browser that receives `=NAME=VALUE` keeps a cookie without a name, and sends the value as it is.
    static func isNamed(by cookie: Span<UInt8>) -> Bool {
        var start = 0
        while start < cookie.count, isSkipped(cookie[start]) { start &+= 1 }
        let end = start &+ prefix.utf8.count
        return end <= cookie.count && cookie.extracting(start..<end).equals(prefix.utf8.span)
    }

    private static func isSkipped(_ byte: UInt8) -> Bool {
        byte == Byte.space || byte == Byte.tab || byte == Byte.equals || byte == Byte.quote
    }
}

extension HTTPFields {
    /// Removes each ``OwnCookie`` from `Cookie` fields; a field with others keeps these, and one without any is
    /// unchanged.
    package mutating func removeOwnCookies() {
        guard entries.contains(where: { $0.known == .cookie && mayHoldOwnCookie($0) }) else { return }
        var emptied: Set<UInt32> = []
        for index in entries.indices where entries[index].known == .cookie {
            let entry = entries[index]
            guard let others = withoutOwnCookies(entry) else { continue }
            guard others.contains(where: { $0 != Byte.semicolon && !$0.isOptionalWhitespace }),
                let line = rewritten(entry, others)
            else {
                emptied.insert(entry.nameStart)
                continue
            }
            entries[index] = line
        }
        if !emptied.isEmpty { removeEntries { emptied.contains($1.nameStart) } }
    }

    /// - Returns: a value without our cookies, each of which goes with the semicolon before it; nil if there is none in it.
    private func withoutOwnCookies(_ entry: Entry) -> [UInt8]? {
        let bytes = block.bytes.span
        let end = entry.valueRange.upperBound
        var others: [UInt8] = []
        var (start, isFirst, hasOwn) = (entry.valueRange.lowerBound, true, false)
        while start <= end {
            let next = bytes.firstIndex(of: Byte.semicolon, in: start..<end) ?? end
            if OwnCookie.isNamed(by: bytes.extracting(start..<next)) {
                hasOwn = true
            } else {
                if !isFirst { others.append(Byte.semicolon) }
                isFirst = false
                others.append(bytes.extracting(start..<next))
            }
            start = next &+ 1
        }
        return hasOwn ? others : nil
    }

    /// Removes each `Set-Cookie` for an ``OwnCookie``.
    package mutating func removeOwnSetCookies() {
        guard has(.setCookie) else { return }
        removeEntries { fields, entry in
            entry.known == .setCookie
                && OwnCookie.isNamed(by: fields.block.bytes.span.extracting(entry.valueRange))
        }
    }

    /// Returns true if the prefix occurs at all; its last letter is rarer than its others, which hexadecimal digits have.
    private func mayHoldOwnCookie(_ entry: Entry) -> Bool {
        let (bytes, letters) = (block.bytes.span, OwnCookie.prefix.utf8.span)
        let last = letters.count - 1
        guard entry.valueRange.count > last else { return false }
        var rest = (entry.valueRange.lowerBound + last)..<entry.valueRange.upperBound
        while let end = bytes.firstIndex(of: letters[last], in: rest) {
            if letters.indices.allSatisfy({ bytes[end - last + $0] == letters[$0] }) { return true }
            rest = (end + 1)..<rest.upperBound
        }
        return false
    }

    /// Appends the line of a field with another value.
    private mutating func rewritten(_ entry: Entry, _ value: [UInt8]) -> Entry? {
        let start = block.count
        for offset in entry.nameRange { block.append(block.bytes[offset]) }
        return finishLine(from: start, known: entry.known, value: value.span)
    }
}
