// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// A kind of server behind a route with rules: which path it, or the application in it, goes by.
///
/// Written apart from the rules that it is to prove.
package enum UpstreamReader: CaseIterable, Sendable {
    /// `new URL(request.url, base).pathname`.
    case node
    /// A check of the raw target's beginning, as before a Flask application.
    case rawPrefix
    /// `PATH_INFO` as Werkzeug routes by it.
    case werkzeug
    /// `getServletPath` of Tomcat, which passes encoded slashes and takes backslashes.
    case tomcat
    /// `getLookupPath` of Spring, in a container that resolves nothing.
    case spring
    /// `$uri` of nginx.
    case nginx
    /// `ServeMux` of Go, where its redirect to the clean path leads.
    case go
    /// `http.server` of Python.
    case python
    /// `parse_url(REQUEST_URI)` and the segments that are not empty.
    case php

    /// The path that it goes by.
    package func place(of path: [UInt8]) -> [UInt8] {
        let raw = latin1(path)
        switch self {
        case .node:
            return Self.joined(
                Self.resolved(Self.withoutHost(raw.replacing("\\", with: "/")), Self.isEncodedDots))
        case .rawPrefix: return path
        case .werkzeug: return Self.joined(Self.merged(Self.decoded(raw)))
        case .tomcat:
            let decoded = Self.decoded(Self.withoutParameters(raw)).replacing("\\", with: "/")
            return Self.joined(Self.resolved(Self.merged(decoded), Self.isDots))
        case .spring: return Self.joined(Self.merged(Self.decoded(Self.withoutParameters(raw))))
        case .nginx, .go, .python:
            return Self.joined(Self.resolved(Self.merged(Self.decoded(raw)), Self.isDots))
        case .php:
            let segments = Self.decoded(Self.withoutHost(raw)).split(separator: "/").map(String.init)
            return Self.joined([""] + segments)
        }
    }

    private static func joined(_ segments: [String]) -> [UInt8] {
        let text = segments.joined(separator: "/")
        return latin1(text.hasPrefix("/") ? text : "/" + text)
    }

    private static func segments(_ path: String) -> [String] {
        path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }

    /// Two slashes at the start make what follows a host, however many there are.
    private static func withoutHost(_ path: String) -> String {
        guard path.hasPrefix("//") else { return path }
        return String(path.drop { $0 == "/" }.drop { $0 != "/" })
    }

    private static func resolved(_ path: String, _ dots: (String) -> Int) -> [String] {
        resolved(segments(path), dots)
    }

    /// Dot segments go, empty ones stay.
    private static func resolved(_ all: [String], _ dots: (String) -> Int) -> [String] {
        var kept: [String] = []
        for (index, segment) in all.enumerated() {
            let isLast = index == all.count - 1
            switch dots(segment) {
            case 1: if isLast { kept.append("") }
            case 2:
                if kept.count > 1 { kept.removeLast() }
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return kept
    }

    private static func isDots(_ segment: String) -> Int { segment == "." ? 1 : segment == ".." ? 2 : 0 }

    private static func isEncodedDots(_ segment: String) -> Int {
        isDots(segment.lowercased().replacing("%2e", with: "."))
    }

    private static func merged(_ path: String) -> [String] {
        let all = segments(path)
        return all.enumerated().filter { $0 == 0 || $0 == all.count - 1 || !$1.isEmpty }.map(\.element)
    }

    private static func withoutParameters(_ path: String) -> String {
        segments(path).map { String($0.prefix { $0 != ";" }) }.joined(separator: "/")
    }

    private static func decoded(_ path: String) -> String {
        var rest = path[...]
        var decoded = ""
        while let first = rest.popFirst() {
            if first == "%", rest.prefix(2).allSatisfy(\.isHexDigit),
                let byte = UInt8(rest.prefix(2), radix: 16),
                rest.count >= 2
            {
                decoded.unicodeScalars.append(Unicode.Scalar(byte))
                rest = rest.dropFirst(2)
            } else {
                decoded.append(first)
            }
        }
        return decoded
    }
}

extension Invariants {
    /// Checks a path that a rule lets through: every kind of server resolves it to a path that the rule
    /// names.
    ///
    /// - Parameter pattern: one without a slash at its end.
    package static func violation(path: [UInt8], goingUpBy pattern: PathPattern) -> String? {
        let rules = RequestRules([RequestRule(methods: nil, path: pattern)])
        guard !RequestPath.namesHost(path.span), rules.rule(for: .get, path.span) != nil else { return nil }
        for reader in UpstreamReader.allCases {
            let place = reader.place(of: path)
            guard !pattern.matches(place) else { continue }
            return "\(latin1(path)) is allowed by \(pattern.text), and is \(latin1(place)) to \(reader)"
        }
        return nil
    }
}
