// SPDX-License-Identifier: Apache-2.0

import FuzzInvariants
import Testing

@testable import HTTPMessages

@Suite struct `Rules of what may be asked for` {
    private static func allows(
        _ pattern: String, _ path: String, methods: Set<HTTPMethod>? = nil,
        _ method: HTTPMethod = .get
    ) throws -> Bool {
        let rules = RequestRules([RequestRule(methods: methods, path: try PathPattern(pattern))])
        return rules.rule(for: method, Array(path.utf8).span) != nil
    }

    @Test(arguments: [
        ("/orders/**", ["/orders", "/orders/", "/orders/5", "/orders/5/items", "/orders/%35"]),
        ("/orders/*", ["/orders/5", "/orders/a.b", "/orders/%2a", "/orders/5;v=1", "//orders//5"]),
        ("/orders/*/items", ["/orders/5/items", "/orders/x/../5/items"]),
        ("/a*z/**/end", ["/az/end", "/abcz/end", "/abcz/x/y/end"]),
        ("/**", ["/", "/x", "/x/y/"]), ("/", ["/", "/."]), ("/files/", ["/files/"]),
        ("/größe", ["/gr%C3%B6%C3%9Fe", "/gr%c3%b6%c3%9fe"]), ("/a%2cb", ["/a%2Cb", "/a%2cb"]),
        ("/*.json", ["/a.json", "/.json"]),
    ])
    func `allow what their patterns match`(pattern: String, paths: [String]) throws {
        for path in paths { #expect(try Self.allows(pattern, path), "\(path)") }
    }

    @Test(arguments: [
        ("/orders/**", ["/ordersx", "/order", "/", "/orders/../admin", "/orders/%2e%2e/admin", "/ORDERS/5"]),
        ("/orders/*", ["/orders", "/orders/", "/orders/5/", "/orders/5/6", "/orders/5%2f6", "/orders/5\\6"]),
        ("/orders/*/items", ["/orders/5%2fitems", "/orders//items", "/orders/5/items/1"]),
        ("/orders", ["/orders/"]), ("/", ["/x", "//x"]), ("/a/*/c", ["/a/x%3f/c", "/a/x%00/c", "/a/x%23/c"]),
        ("/orders/**", ["/orders/..;/admin", "/orders/%2e%2e%2fadmin", "/orders/..%5cadmin"]),
    ])
    func `allow nothing else, whichever way a path is read`(pattern: String, paths: [String]) throws {
        for path in paths { #expect(try !Self.allows(pattern, path), "\(path)") }
    }

    @Test func `take GET for HEAD and nothing for anything else`() throws {
        #expect(try Self.allows("/a", "/a", methods: [.get], .head))
        #expect(try !Self.allows("/a", "/a", methods: [.head], .get))
        #expect(try !Self.allows("/a", "/a", methods: [.get], .post))
        #expect(try !Self.allows("/a", "/a", methods: [.get], HTTPMethod(rawValue: "get")))
        #expect(RequestRules([]).rule(for: .get, Array("/".utf8).span) == nil)
    }

    @Test func `say which of them it was`() throws {
        let rules = RequestRules([
            RequestRule(methods: [.post], path: try PathPattern("/**")),
            RequestRule(methods: nil, path: try PathPattern("/b")),
            RequestRule(methods: nil, path: try PathPattern("/**")),
        ])
        #expect(rules.rule(for: .get, Array("/b".utf8).span) == 1)
        #expect(rules.rule(for: .get, Array("/c".utf8).span) == 2)
        #expect(rules.rule(for: .post, Array("/b".utf8).span) == 0)
    }

    @Test(arguments: [
        ("orders", PathPattern.Fault.relative), ("", .relative), ("/a**", .mixedSegment),
        ("/***", .mixedSegment),
        ("/a//b", .unmatchable), ("/./a", .unmatchable), ("/a/..", .unmatchable), ("/a;b", .unmatchable),
        ("/a?b", .unmatchable), ("/a#b", .unmatchable), ("/a b", .unmatchable), ("/a\\b", .unmatchable),
    ])
    func `refuse patterns that nothing would match`(text: String, fault: PathPattern.Fault) {
        #expect(throws: fault) { try PathPattern(text) }
    }

    /// A server that reads a path in any of the ways there are must not be led elsewhere than a rule says.
    @Test func `hold for every server there may be`() throws {
        let alphabet = ["a", "b", "/", "/", ".", "..", ";", "%2f", "%5c", "\\", "%3b", "%2e", "%61", "%3f"]
        let patterns = try ["/a/**", "/a/*", "/a/*/b", "/a/b", "/*/b", "/**/b", "/a/**/b*"].map(
            PathPattern.init)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<3_000 {
            let count = Int.random(in: 1...8, using: &generator)
            let text = "/" + (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? "" }.joined()
            let path = Array(text.utf8)
            for pattern in patterns {
                let rules = RequestRules([RequestRule(methods: nil, path: pattern)])
                guard rules.rule(for: .get, path.span) != nil else { continue }
                let readers = (0..<4).compactMap { _ in PathReader.all.randomElement(using: &generator) }
                if let violation = Invariants.violation(path: path, allowedBy: pattern, readers: readers) {
                    Issue.record("\(text) allowed by \(pattern.text): \(violation)")
                    return
                }
            }
        }
    }
}
