// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSON

/// The requests that a route takes; it tells routes of one path apart.
package struct RouteScope: Hashable, Sendable {
    package let path: String
    /// The host that a request must name; nil for any.
    package var host: String?
    /// The accepted methods in alphabetical order; empty for any.
    package var methods: [String]
    /// The listener that a request must come in on; nil for any.
    package var listen: String?

    package init(path: String, host: String? = nil, methods: [String] = [], listen: String? = nil) {
        self.path = path
        self.host = host
        self.methods = methods
        self.listen = listen
    }

    /// Reads the members of a route's entry; nil if it names no path.
    init?(_ json: JSONValue) {
        guard let path = json[.path]?.string else { return nil }
        self.init(
            path: path, host: json[.host]?.string, methods: json.strings(.methods),
            listen: json[.listen]?.string)
    }

    /// The demands on a request besides the path; empty if there are none.
    package var conditions: String {
        [
            host.map { "host \($0)" }, methods.isEmpty ? nil : methods.joined(separator: " or "),
            listen.map { "at \($0)" },
        ].compactMap(\.self).joined(separator: ", ")
    }

    /// The route for a person: `/orders (host api.test, GET)`.
    package var words: String { conditions.isEmpty ? path : "\(path) (\(conditions))" }
}
