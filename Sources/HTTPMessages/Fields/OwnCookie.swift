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
    static func isNamed(by cookie: some Collection<UInt8>) -> Bool {
        cookie.drop { skipped.contains($0) }.starts(with: prefix.utf8)
    }

    private static let skipped: [UInt8] = [Byte.space, Byte.tab, Byte.equals, Byte.quote]
}

extension HTTPFields {
    /// Removes each ``OwnCookie`` from `Cookie` fields; a field with others keeps these, and one without any is
    /// unchanged.
    package mutating func removeOwnCookies() {
        guard entries.contains(where: { $0.known == .cookie && mayHoldOwnCookie($0) }) else { return }
        var emptied: Set<UInt32> = []
        for index in entries.indices where entries[index].known == .cookie {
            let entry = entries[index]
            let cookies = block.bytes[entry.valueRange].split(
                separator: Byte.semicolon, omittingEmptySubsequences: false)
            let others = cookies.filter { !OwnCookie.isNamed(by: $0) }
            guard others.count < cookies.count else { continue }
            guard others.contains(where: { !$0.allSatisfy(\.isOptionalWhitespace) }),
                let line = rewritten(entry, Array(others.joined(separator: [Byte.semicolon])))
            else {
                emptied.insert(entry.nameStart)
                continue
            }
            entries[index] = line
        }
        if !emptied.isEmpty { removeEntries { emptied.contains($1.nameStart) } }
    }

    /// Removes each `Set-Cookie` for an ``OwnCookie``.
    package mutating func removeOwnSetCookies() {
        guard has(.setCookie) else { return }
        removeEntries { fields, entry in
            entry.known == .setCookie && OwnCookie.isNamed(by: fields.block.bytes[entry.valueRange])
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
