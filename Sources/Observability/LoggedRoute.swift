// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSONText

/// A route's texts for access lines: its name, identity and upstream, escaped.
///
/// It is an object, so that a line counts one reference instead of one for each text.
package final class LoggedRoute: Sendable {
    let name: [UInt8]
    /// nil for a route without an identity.
    let identity: [UInt8]?
    /// nil for requests without a route.
    let upstream: [UInt8]?
    /// Name and identity as lines have them one behind the other, with their keys.
    let jsonPart, textPart: [UInt8]
    /// The bytes of all three texts together.
    let longestText: Int

    package init(_ name: String, identity: String? = nil, upstream: String? = nil) {
        self.name = Self.escaped(name)
        self.identity = identity.map(Self.escaped)
        self.upstream = upstream.map(Self.escaped)
        var (json, text) = (Array(#","route":""#.utf8), Array(" route=".utf8))
        json += self.name + [UInt8(ascii: "\"")]
        text += self.name
        if let identity = self.identity {
            json += Array(#","identity":""#.utf8) + identity + [UInt8(ascii: "\"")]
            text += Array(" identity=".utf8) + identity
        }
        (jsonPart, textPart) = (json, text)
        longestText = self.name.count + (self.identity?.count ?? 0) + (self.upstream?.count ?? 0)
    }

    private static func escaped(_ name: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(jsonEscaping: name, limit: AccessLog.pathLimit)
        return bytes
    }
}
