// SPDX-License-Identifier: Apache-2.0

/// A rule that allows requests with certain methods for certain paths.
package struct RequestRule: Sendable, Equatable {
    /// Nil for any; GET includes HEAD.
    package let methods: Set<HTTPMethod>?
    package let path: PathPattern

    package init(methods: Set<HTTPMethod>?, path: PathPattern) {
        self.methods = methods
        self.path = path
    }

    /// Returns true if the rule covers a method.
    func isAbout(_ method: HTTPMethod) -> Bool {
        guard let methods else { return true }
        return methods.contains(method) || method == .head && methods.contains(.get)
    }
}

/// A list of rules, one of which must allow a request.
package struct RequestRules: Sendable, Equatable {
    package let rules: [RequestRule]

    package init(_ rules: [RequestRule]) { self.rules = rules }

    /// The rule that allows a request in every reading of its path; none if the path
    /// ``RequestPath/hasOddSegment(_:)``.
    ///
    ///   - Parameter path: the whole path of an origin-form target as sent, without its query.
    /// - Returns: the index of the rule for the usual reading; nil if no rule allows some reading.
    package func rule(for method: HTTPMethod, _ path: Span<UInt8>) -> Int? {
        let about = rules.indices.filter { rules[$0].isAbout(method) }
        guard !about.isEmpty else { return nil }
        var found: Int?
        for reading in RequestPath.readings(of: path) {
            guard let path = SegmentedPath(reading),
                let index = about.first(where: { rules[$0].path.matches(path) })
            else { return nil }
            found = found ?? index
        }
        return found
    }
}
