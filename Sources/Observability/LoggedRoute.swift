// SPDX-License-Identifier: Apache-2.0

internal import JSONText

/// What lines of the access log have of a route: its name and its identity's, with what stands before and after them in each
/// format, and its upstream.
///
/// An object, so that a line counts one reference and not one for each text.
package final class LoggedRoute: Sendable {
    private let json: [UInt8]
    private let text: [UInt8]
    /// Each alone, escaped; the identity's is nil for a route without one.
    let name: [UInt8]
    let identity: [UInt8]?
    /// Where its upstream is, escaped; nil for no route.
    let upstream: [UInt8]?

    package init(_ name: String, identity: String? = nil, upstream: String? = nil) {
        self.name = Self.escaped(name)
        self.identity = identity.map(Self.escaped)
        self.upstream = upstream.map(Self.escaped)
        json =
            Self.joined(#"","route":""#, self.name, #"","identity":""#, self.identity) + #"","path":""#.utf8
        text = Self.joined(" route=", self.name, " identity=", self.identity)
    }

    /// The piece of a line.
    func piece(in format: LogFormat) -> [UInt8] {
        switch format {
        case .json: json
        case .text: text
        }
    }

    private static func escaped(_ name: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(jsonEscaping: name, limit: AccessLog.pathLimit)
        return bytes
    }

    private static func joined(
        _ first: String, _ name: [UInt8], _ second: String, _ identity: [UInt8]?
    ) -> [UInt8] {
        first.utf8 + name + (identity.map { second.utf8 + $0 } ?? [])
    }
}
