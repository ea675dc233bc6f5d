// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// The keys of `routes[].allow[]`.
enum RequestRuleKey: String, ConfigurationKey {
    case methods
    case path
}

extension RequestRules {
    /// Reads `allow`; an empty list allows nothing.
    init(reading route: Section<RouteConfiguration.Key>) {
        let sections = route.sections(.allow, RequestRuleKey.self) ?? []
        self.init(
            sections.compactMap { section in
                let methods = section.oneOrMany(.methods, .method).map { Set($0.map(\.value)) }
                if methods?.isEmpty == true {
                    section.error(.methods, "lets nothing through; leave it out for any method")
                }
                section.require(.path)
                guard let path = section.value(.path, .pathPattern)?.value else { return nil }
                return RequestRule(methods: methods, path: path)
            })
    }
}

extension ValueKind<PathPattern> {
    fileprivate static var pathPattern: ValueKind {
        ValueKind { scalar throws(ValueError) in
            do throws(PathPattern.Fault) {
                return try PathPattern(scalar.text)
            } catch {
                throw ValueError(error.reason)
            }
        }
    }
}

extension PathPattern.Fault {
    fileprivate var reason: String {
        switch self {
        case .relative: "must begin with '/'"
        case .mixedSegment: "'**' must be a segment of its own, as in /orders/**"
        case .unmatchable:
            "matches nothing: no '//', dot segments, spaces, ';', '\\', '?' or '#'; a query is not judged"
        }
    }
}
