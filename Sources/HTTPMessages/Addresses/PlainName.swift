// SPDX-License-Identifier: Apache-2.0

/// Names from outside that may be shown: they are short and have no characters that are special in JSON, HTML or a
/// terminal.
package enum PlainName {
    /// More bytes than any host with its port.
    private static let longest = 260

    /// A host, with or without its port, if it could stand in a list of hosts.
    package static func host(_ host: String?) -> String? {
        guard let host, !host.isEmpty, host.utf8.count <= longest, host.utf8.allSatisfy(isPlain)
        else { return nil }
        return host
    }

    /// `scheme://host`, with or without a port, if it could stand in a list of origins.
    package static func origin(_ origin: String?) -> String? {
        let parts = origin?.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false) ?? []
        guard parts.count == 2, host(String(parts[0])) != nil, host(String(parts[1])) != nil
        else { return nil }
        return origin
    }

    /// Returns true for letters, digits, and other characters of names, addresses and ports.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case Byte.hyphen, Byte.dot, 0x5F, Byte.colon, Byte.leftBracket, Byte.rightBracket: true
        default: false
        }
    }
}
