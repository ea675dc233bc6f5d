// SPDX-License-Identifier: Apache-2.0

/// Requests that are allowed: those with one of these methods, for one of these paths.
package struct RequestRule: Sendable, Equatable {
    /// `nil` for any; GET stands for HEAD too.
    package let methods: Set<HTTPMethod>?
    package let path: PathPattern

    package init(methods: Set<HTTPMethod>?, path: PathPattern) {
        self.methods = methods
        self.path = path
    }

    /// Whether the rule is about a method.
    func isAbout(_ method: HTTPMethod) -> Bool {
        guard let methods else { return true }
        return methods.contains(method) || method == .head && methods.contains(.get)
    }
}

/// A list of rules, of which one must allow what is asked for.
package struct RequestRules: Sendable, Equatable {
    package let rules: [RequestRule]

    package init(_ rules: [RequestRule]) { self.rules = rules }

    /// The rule that allows a request, whichever way an upstream reads its path; none does where that
    /// ``RequestPath/hasOddSegment(_:)``.
    ///
    /// - Parameters:
    ///   - path: of an origin-form target, without its query; the whole of it, as it was sent.
    /// - Returns: the index of the one that allows it in the usual reading; nil if there is a reading that none allows.
    package func rule(for method: HTTPMethod, _ path: Span<UInt8>) -> Int? {
        let about = rules.indices.filter { rules[$0].isAbout(method) }
        guard !about.isEmpty else { return nil }
        var found: Int?
        for reading in RequestPath.readings(of: path) {
            guard let index = about.first(where: { rules[$0].path.matches(reading) }) else { return nil }
            found = found ?? index
        }
        return found
    }
}
