// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// Parses IP addresses strictly: no octal, no missing parts, no zones.
package enum IPAddress {
    /// The four bytes of a dotted quad (RFC 3986 §3.2.2, `IPv4address`).
    static func parseIPv4(_ text: Span<UInt8>) -> [UInt8]? {
        var parts: [UInt8] = []
        var start = 0
        while start <= text.count {
            let end = text.firstIndex(of: Byte.dot, in: start..<text.count) ?? text.count
            guard (1...3).contains(end - start), parts.count < 4 else { return nil }
            guard end - start == 1 || text[start] != Byte.zero else { return nil }
            guard let value = Authority.port(text.extracting(start..<end)), value < 256 else { return nil }
            parts.append(UInt8(truncatingIfNeeded: value))
            start = end + 1
        }
        return parts.count == 4 ? parts : nil
    }

    /// The sixteen bytes of an IPv6 address without brackets (RFC 4291 §2.2).
    static func parseIPv6(_ text: Span<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var gap: Int?
        var start = 0
        if text.count >= 2, text[0] == Byte.colon {
            guard text[1] == Byte.colon else { return nil }
            gap = 0
            start = 2
        }
        while start < text.count {
            let end = text.firstIndex(of: Byte.colon, in: start..<text.count) ?? text.count
            if end == text.count, let quad = parseIPv4(text.extracting(start..<end)) {
                bytes += quad
                break
            }
            guard let group = parseGroup(text.extracting(start..<end)) else { return nil }
            bytes += [UInt8(truncatingIfNeeded: group >> 8), UInt8(truncatingIfNeeded: group)]
            guard end < text.count else { break }
            start = end + 1
            guard start < text.count else { return nil }
            if text[start] == Byte.colon {
                guard gap == nil else { return nil }
                gap = bytes.count
                start += 1
            }
        }
        guard let gap else { return bytes.count == 16 ? bytes : nil }
        guard bytes.count <= 14 else { return nil }
        bytes.insert(contentsOf: repeatElement(0, count: 16 - bytes.count), at: gap)
        return bytes
    }

    /// Returns true if a host, without brackets, is an address.
    static func isAddress(_ host: String) -> Bool {
        let text = host.utf8.span
        return (parseIPv4(text) ?? parseIPv6(text)) != nil
    }

    /// Returns true if these four or sixteen bytes are a loopback address: 127/8, `::1`, `::ffff:127/104`.
    package static func isLoopback(_ bytes: [UInt8]) -> Bool {
        switch bytes.count {
        case 4: bytes[0] == 127
        case 16:
            bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] == 1
                || bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 255 && bytes[11] == 255
                    && bytes[12] == 127
        default: false
        }
    }

    /// The bytes of an address: four of an IPv4 address, also in its IPv6 form (RFC 4291 §2.5.5.2), and else sixteen; nil
    /// for no address.
    package static func bytes(of host: String) -> [UInt8]? {
        let text = host.utf8.span
        if let address = parseIPv4(text) { return address }
        guard let address = parseIPv6(text) else { return nil }
        let isMapped = address[..<10].allSatisfy { $0 == 0 } && address[10] == 255 && address[11] == 255
        return isMapped ? Array(address.suffix(4)) : address
    }

    /// The network that counts as one client: an IPv4 address, or the first half of an IPv6 address (RFC 6177); nil
    /// for no address.
    package static func network(of host: String) -> [UInt8]? {
        guard let address = bytes(of: String(host.prefix { $0 != "%" })) else { return nil }
        return Array(address.prefix(8))
    }

    /// Returns true if a host, without brackets, is this machine: a loopback address, `localhost` or a name under it
    /// (RFC 6761 §6.3).
    package static func isLoopback(host: String) -> Bool {
        let text = host.utf8.span
        if let address = parseIPv4(text) ?? parseIPv6(text) { return isLoopback(address) }
        let name = host.utf8.map(\.asciiLowercased)
        let suffix = Array("localhost".utf8)
        return name == suffix
            || name.count > suffix.count + 1 && name.suffix(suffix.count + 1) == [Byte.dot] + suffix
    }

    private static func parseGroup(_ text: Span<UInt8>) -> UInt16? {
        guard (1...4).contains(text.count) else { return nil }
        var value: UInt16 = 0
        for index in text.indices {
            guard let digit = text[index].hexadecimalValue else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value
    }
}
