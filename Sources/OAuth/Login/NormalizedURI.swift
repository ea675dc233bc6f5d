// SPDX-License-Identifier: Apache-2.0

import BearerdJSONText

/// A URI to be compared by scheme, authority and path (RFC 3986 §6.2), with the query apart.
///
/// Scheme and authority are compared without case and without a default port. Any scheme will do:
/// `com.example.app:/oauth2redirect`, `app://callback`, `http://127.0.0.1:8080/`.
struct NormalizedURI: Equatable {
    private let scheme: String
    /// nil if there is none, as with most custom schemes.
    private let authority: String?
    private let path: String
    /// Without the `?`; nil if there is none.
    let query: String?

    /// - Returns: nil for a text without a scheme.
    init?(_ url: String) {
        let whole = url.prefix { $0 != "#" }
        guard let colon = whole.firstIndex(of: ":"), colon != whole.startIndex else { return nil }
        let name = whole[..<colon].lowercased()
        let isScheme = name.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || "+-.".utf8.contains(byte)
        }
        guard isScheme else { return nil }
        scheme = name
        let rest = whole[whole.index(after: colon)...]
        let hierarchy = rest.prefix { $0 != "?" }
        query =
            hierarchy.endIndex == rest.endIndex ? nil : String(rest[rest.index(after: hierarchy.endIndex)...])
        guard hierarchy.hasPrefix("//") else {
            authority = nil
            path = String(hierarchy)
            return
        }
        let authority = hierarchy.dropFirst(2).prefix { $0 != "/" }
        self.authority = Self.normalized(authority.lowercased(), of: name)
        let rawPath = hierarchy[authority.endIndex...]
        path = rawPath.isEmpty ? "/" : String(rawPath)
    }

    /// False for an `http` or `https` URI without a host.
    var hasHostIfWeb: Bool {
        guard scheme == "http" || scheme == "https" else { return true }
        return authority.map { !$0.isEmpty && !$0.hasPrefix(":") } ?? false
    }

    private static func normalized(_ authority: String, of scheme: String) -> String {
        let usual = scheme == "http" ? ":80" : scheme == "https" ? ":443" : ":"
        return authority.hasSuffix(usual) ? String(authority.dropLast(usual.count)) : authority
    }

    static func == (left: NormalizedURI, right: NormalizedURI) -> Bool {
        left.scheme.hasSameBytes(as: right.scheme) && left.path.hasSameBytes(as: right.path)
            && (left.authority?.hasSameBytes(as: right.authority) ?? (right.authority == nil))
    }
}
