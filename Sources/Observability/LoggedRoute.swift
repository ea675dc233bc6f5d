// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSONText

/// What lines of the access log have of a route: its name, its identity's and its upstream, escaped.
///
/// An object, so that a line counts one reference and not one for each text.
package final class LoggedRoute: Sendable {
    let name: [UInt8]
    /// nil for a route without one.
    let identity: [UInt8]?
    /// nil for no route.
    let upstream: [UInt8]?
    /// How many bytes all of them have.
    let longestText: Int

    package init(_ name: String, identity: String? = nil, upstream: String? = nil) {
        self.name = Self.escaped(name)
        self.identity = identity.map(Self.escaped)
        self.upstream = upstream.map(Self.escaped)
        longestText = self.name.count + (self.identity?.count ?? 0) + (self.upstream?.count ?? 0)
    }

    private static func escaped(_ name: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(jsonEscaping: name, limit: AccessLog.pathLimit)
        return bytes
    }
}
