// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// `host [":" port]`, as in `Host`, without user information (RFC 9110 §7.2, RFC 3986 §3.2).
package enum Authority {
    /// Splits an authority if host and port are well-formed.
    ///
    /// - Returns: the ranges of the host, with the brackets of an IPv6 literal, and of the port's digits, which may
    ///   be empty.
    static func split(_ bytes: Span<UInt8>) -> (host: Range<Int>, port: Range<Int>)? {
        guard let hostEnd = endOfHost(bytes), hostEnd > 0 else { return nil }
        guard hostEnd < bytes.count else { return (0..<hostEnd, hostEnd..<hostEnd) }
        guard bytes[hostEnd] == Byte.colon else { return nil }
        let port = (hostEnd &+ 1)..<bytes.count
        guard Authority.port(bytes.extracting(port)) != nil || port.isEmpty else { return nil }
        return (0..<hostEnd, port)
    }

    /// Returns true for a well-formed authority whose port is no number in disguise: to compare texts, `08443` is another
    /// port than `8443`, and to connect it is the same.
    package static func isValid(_ bytes: Span<UInt8>) -> Bool {
        guard let port = split(bytes)?.port else { return false }
        return port.count < 2 || bytes[port.lowerBound] != Byte.zero
    }

    /// Returns true if two authorities name the same host and port, regardless of case.
    ///
    /// - Parameter defaultPort: of one that names none.
    package static func agree(
        _ one: Span<UInt8>, _ other: Span<UInt8>, defaultPort: UInt16 = 80
    ) -> Bool {
        guard let left = split(one), let right = split(other), left.host.count == right.host.count
        else { return false }
        for offset in 0..<left.host.count
        where one[left.host.lowerBound &+ offset].asciiLowercased
            != other[right.host.lowerBound &+ offset].asciiLowercased
        {
            return false
        }
        return port(one.extracting(left.port)) ?? defaultPort
            == port(other.extracting(right.port)) ?? defaultPort
    }

    /// A port number of one to five digits.
    static func port(_ digits: Span<UInt8>) -> UInt16? {
        guard (1...5).contains(digits.count) else { return nil }
        var value = 0
        for index in digits.indices {
            guard digits[index].isDigit else { return nil }
            value = value * 10 + Int(digits[index] - Byte.zero)
        }
        return UInt16(exactly: value)
    }

    private static func endOfHost(_ bytes: Span<UInt8>) -> Int? {
        guard !bytes.isEmpty else { return nil }
        if bytes[0] == Byte.leftBracket {
            guard let close = bytes.firstIndex(of: Byte.rightBracket, in: 0..<bytes.count) else { return nil }
            return IPAddress.parseIPv6(bytes.extracting(1..<close)) == nil ? nil : close &+ 1
        }
        var cursor = 0
        while cursor < bytes.count, isHostCharacter(bytes[cursor]) { cursor &+= 1 }
        return cursor
    }

    /// Returns true for letters, digits, `-._~`, and the sub-delimiters and `%` of a reg-name (RFC 3986 §3.2.2).
    private static func isHostCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x24...0x2E, 0x3B, 0x3D, 0x5F, 0x7E: true
        default: false
        }
    }
}
