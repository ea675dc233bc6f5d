// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSONText

/// A route's texts for access lines: its name, identity and upstream, escaped.
///
/// It is an object, so that a line counts one reference instead of one for each text.
package final class LoggedRoute: Sendable {
    let name: [UInt8]
    /// Empty for a route without an identity.
    let identity: [UInt8]
    /// Empty for requests without a route.
    let upstream: [UInt8]
    /// Name and identity as lines have them one behind the other, with their keys.
    let jsonPart, textPart: [UInt8]
    /// The bytes of what a line may show of it, together.
    let longestText: Int

    package init(_ name: String, identity: String? = nil, upstream: String? = nil) {
        self.name = Self.escaped(name)
        self.identity = Self.escaped(identity ?? "")
        self.upstream = Self.escaped(upstream ?? "")
        var (json, text) = (Array(#","route":""#.utf8), Array(" route=".utf8))
        json += self.name + [UInt8(ascii: "\"")]
        text += self.name
        if !self.identity.isEmpty {
            json += Array(#","identity":""#.utf8) + self.identity + [UInt8(ascii: "\"")]
            text += Array(" identity=".utf8) + self.identity
        }
        (jsonPart, textPart) = (json, text)
        longestText = max(json.count, text.count) + self.upstream.count
    }

    private static func escaped(_ name: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(jsonEscaping: name, limit: AccessLog.pathLimit)
        return bytes
    }
}
