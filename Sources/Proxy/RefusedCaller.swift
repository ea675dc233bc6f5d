// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

/// Says to people which of their names was refused, and which key lets it in.
///
/// A name is shown only if it could stand in that key: what is in none means nothing to JSON, HTML or a terminal, and
/// is no longer than a host can be.
enum RefusedCaller {
    /// Of a `Host` that is not the listener's.
    static func host(in fields: HTTPFields) -> String {
        guard let host = shown(fields[.host] ?? "") else {
            return
                "This listener does not answer to the Host of the request; access.hosts lists those it does."
        }
        return
            "This listener does not answer to the host '\(host)'; if it is one of its names, add it to access.hosts."
    }

    /// Of an `Origin`, or of a `Referer`'s.
    static func origin(_ origin: String?) -> String {
        guard let origin, let shown = shownOrigin(origin) else {
            return
                "The request comes from a page whose origin cannot be told; only pages of access.origins may call."
        }
        return
            "Pages of '\(shown)' may not call this listener; if they should, add that origin to access.origins."
    }

    private static let longestName = 260

    private static func shown(_ name: String) -> String? {
        guard !name.isEmpty, name.utf8.count <= longestName, name.utf8.allSatisfy(isPlain) else { return nil }
        return name
    }

    private static func shownOrigin(_ origin: String) -> String? {
        let parts = origin.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count <= 32, shown(String(parts[0])) != nil,
            shown(String(parts[1])) != nil
        else { return nil }
        return origin
    }

    /// Letters, digits, and what else stands in a name, an address or a port.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"): true
        case UInt8(ascii: "["), UInt8(ascii: "]"): true
        default: false
        }
    }
}
