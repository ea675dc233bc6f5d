// SPDX-License-Identifier: Apache-2.0

internal import System

/// The cookies of bearerd's admin listener.
///
/// Cookies know no port (RFC 6265 §8.5): browsers send them to every listener of the same host, and take them from each.
package enum OwnCookie {
    /// What their names begin with.
    package static let prefix = "bearerd_"

    /// Whether a cookie, as `Cookie` or `Set-Cookie` has it, may come to have such a name.
    ///
    /// Browsers that are told `=NAME=VALUE` keep a cookie without a name, and send its value as it is.
    static func isNamed(by cookie: some Collection<UInt8>) -> Bool {
        cookie.drop { skipped.contains($0) }.starts(with: prefix.utf8)
    }

    private static let skipped: [UInt8] = [Byte.space, Byte.tab, Byte.equals, Byte.quote]
}

extension HTTPFields {
    /// Takes ``OwnCookie``s out of each `Cookie`: one that holds others too keeps these, one without any stays as it is.
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

    /// Whether the letters are there at all: one look at each byte.
    private func mayHoldOwnCookie(_ entry: Entry) -> Bool {
        let (bytes, letters) = (block.bytes.span, OwnCookie.prefix.utf8.span)
        var rest = entry.valueRange
        while let start = bytes.firstIndex(of: letters[0], in: rest), rest.upperBound - start >= letters.count
        {
            if letters.indices.allSatisfy({ bytes[start + $0] == letters[$0] }) { return true }
            rest = (start + 1)..<rest.upperBound
        }
        return false
    }

    /// The line of a field with another value.
    private mutating func rewritten(_ entry: Entry, _ value: [UInt8]) -> Entry? {
        let start = block.count
        for offset in entry.nameRange { block.append(block.bytes[offset]) }
        return finishLine(from: start, known: entry.known, value: value.span)
    }
}
