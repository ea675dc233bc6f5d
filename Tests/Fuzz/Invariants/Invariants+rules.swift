// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

extension Invariants {
    /// Checks a path that a rule allows: a server that ignores parameters and empty segments finds nothing
    /// there that the rule does not name.
    ///
    /// - Parameter pattern: one without a slash at its end.
    package static func violation(
        path: [UInt8], allowedBy pattern: PathPattern, readers: [PathReader] = PathReader.all
    ) -> String? {
        // To a server that decodes nothing, dots that are encoded are a name, and lead nowhere.
        let hasEncodedDot = String(decoding: path, as: UTF8.self).contains("%2e")
        for reader in readers where reader.parameters != .separator && (reader.decodes || !hasEncodedDot) {
            let segments = reader.read(path).segments
            let names = segments.compactMap(name)
            let place = "/" + names.joined(separator: "/")
            if !pattern.matches(Array(place.utf8)) { return "\(place) for \(reader)" }
        }
        return nil
    }

    /// A segment without its parameters, its escapes spelled in one way; nil if nothing is left.
    private static func name(_ segment: String) -> String? {
        var name = segment.replacing("%3b", with: ";").replacing("%3B", with: ";")
        if let begin = name.firstIndex(of: ";") { name.removeSubrange(begin...) }
        name = name.replacing("%61", with: "a").replacing("%2e", with: ".")
        for escape in ["%2f", "%5c", "%3f"] { name = name.replacing(escape, with: escape.uppercased()) }
        return name.isEmpty ? nil : name
    }
}
