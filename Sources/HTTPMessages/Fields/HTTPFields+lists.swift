// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

extension HTTPFields {
    /// Returns true if a comma-separated list, over all fields of that name, has a member (RFC 9110 §5.6.1).
    ///
    ///   - Parameter token: in lower case; compared without case. Parameters (`;…`) are part of a member.
    package func containsToken(_ token: String, in name: Name) -> Bool {
        guard contains(name) else { return false }
        // Nearly all lists have one member, in lower case.
        if name.known != .other, block.bytes.span.equalsIgnoringCase(firstRange(of: name.known), token) {
            return true
        }
        var found = false
        forEachListMember(of: name) { bytes, member in
            if !found, bytes.equalsIgnoringCase(member, token) { found = true }
        }
        return found
    }

    /// The members of a comma-separated list, over all fields of that name, without empty ones.
    ///
    /// - Parameter limit: how many of them, the first ones.
    package func listMembers(of name: Name, atMost limit: Int = .max) -> [String] {
        var members: [String] = []
        forEachListMember(of: name) { _, member in
            if members.count < limit { members.append(text(member)) }
        }
        return members
    }

    /// How many proxies of a name the message has passed, by `Via` (RFC 9110 §7.6.3): `1.1 NAME`, and perhaps more.
    package func viaCount(of proxy: String) -> Int {
        var count = 0
        forEachListMember(of: .via) { bytes, member in
            guard let end = bytes.firstIndex(of: Byte.space, in: member) else { return }
            let rest = bytes.trimmingOptionalWhitespace(end..<member.upperBound)
            let next = bytes.firstIndex(of: Byte.space, in: rest) ?? rest.upperBound
            if bytes.extracting(rest.lowerBound..<next).equals(proxy.utf8.span) { count += 1 }
        }
        return count
    }

    /// Calls back with the block and the range of each list member, without white space and empty members.
    func forEachListMember(of name: Name, _ body: (Span<UInt8>, Range<Int>) -> Void) {
        let bytes = block.bytes.span
        for entry in entries where matches(entry, name) {
            var start = entry.valueRange.lowerBound
            let end = entry.valueRange.upperBound
            while start < end {
                let comma = bytes.firstIndex(of: Byte.comma, in: start..<end) ?? end
                let member = bytes.trimmingOptionalWhitespace(start..<comma)
                if !member.isEmpty { body(bytes, member) }
                start = comma &+ 1
            }
        }
    }
}
