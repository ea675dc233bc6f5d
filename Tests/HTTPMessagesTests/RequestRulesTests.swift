// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import BearerdTestSupport
import Testing

@testable import BearerdHTTPMessages

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
        ("/orders/*", ["/orders/5", "/orders/a.b", "/orders/%2a", "/orders/5;v=1"]),
        ("/orders/*/items", ["/orders/5/items", "/orders/5;v=1/items"]),
        ("/a*z/**/end", ["/az/end", "/abcz/end", "/abcz/x/y/end"]),
        ("/**", ["/", "/x", "/x/y/"]), ("/", ["/"]), ("/files/", ["/files/"]),
        ("/größe", ["/gr%C3%B6%C3%9Fe", "/gr%c3%b6%c3%9fe"]), ("/a%2cb", ["/a%2Cb", "/a%2cb"]),
        ("/*.json", ["/a.json", "/.json"]), ("/a|b", ["/a|b", "/a%7cb"]), ("/a%7Cb", ["/a|b", "/a%7cb"]),
        ("/ü", ["/ü", "/%c3%bc"]), ("/a%", ["/a%", "/a%25"]),
        ("/a*%3Ab", ["/ax%3ab", "/a%3Ab", "/a%25%3ab"]),
        ("/*B", ["/%3AB", "/%3A%2CB", "/B"]), ("/x/a*b*c", ["/x/abc", "/x/aXbYc", "/x/abcbc"]),
        ("/a*a", ["/aa", "/aba"]),
    ])
    func `allow what their patterns match`(pattern: String, paths: [String]) throws {
        for path in paths { #expect(try Self.allows(pattern, path), "\(path)") }
    }

    @Test(arguments: [
        ("/orders/**", ["/ordersx", "/order", "/", "/orders/../admin", "/orders/%2e%2e/admin", "/ORDERS/5"]),
        ("/orders/*", ["/orders", "/orders/", "/orders/5/", "/orders/5/6", "/orders/5%2f6", "/orders/5\\6"]),
        ("/orders/*/items", ["/orders/5%2fitems", "/orders//items", "/orders/5/items/1"]),
        ("/orders", ["/orders/"]), ("/", ["/x", "//x"]), ("/a/*/c", ["/a/x%3f/c", "/a/x%00/c", "/a/x%23/c"]),
        ("/a:b", ["/a%3Ab"]), ("/a%3Ab", ["/a:b"]), ("/%2A", ["/*"]),
        // To a server that decodes, neither ends with what stands behind the asterisk.
        ("/*B", ["/x%2B", "/x%2b", "/%C3%AB"]), ("/*2*", ["/a%2B"]), ("/a%*", ["/a%2B"]),
        ("/orders/**", ["/orders/..;/admin", "/orders/%2e%2e%2fadmin", "/orders/..%5cadmin"]),
        ("/x/a*b*c", ["/x/ac", "/x/acb", "/x/ab", "/x/abxd"]), ("/a*a", ["/a", "/ab"]),
    ])
    func `allow nothing else, whichever way a path is read`(pattern: String, paths: [String]) throws {
        for path in paths { #expect(try !Self.allows(pattern, path), "\(path)") }
    }

    private static func isOdd(_ path: String) -> Bool { RequestPath.hasOddSegment(Array(path.utf8).span) }

    private static let oddSegments = [
        "//", "/./", "/../", "/%2e/", "/%2E%2e/", "/.%2E/", "/..;x/", "/.;/", "/;x/", "/%2e%2e;/", "/..%3bx/",
        "/%2f", "%2F%2f", "%2f..%2f", "/..%2f", "/..%5C", "/..\\", "\\..\\", "\\\\", "/\\", "/%5c",
        "%5c..%5c", "/..%00/",
        "/..%23/", "/.%3f/", "/%252e%252E/", "/..%252f", "/%25%32%65./", "/..%255c", "/%25252e%2e/",
        "/%252525252561/", "/%2%65%2%65/", "/%%32e%%32e/",
        "/%u002e%U002E/", "/..%u2215", "/%25u002e/", "/%c0%ae%c0%ae/", "/..%C0%AF", "/%e0%80%ae/",
        "/%f8%80%80%80%ae/", "/..%fc%80%80%80%80%af", "/%c1%1c/", "/x%c0",
        "/%f0%80%80%ae/",
        "/..%20/", "/.%20/", "/.%20./", "/%2e%2e%20%20/",
    ]

    @Test(arguments: oddSegments)
    func `allow no path with an empty or a dot segment, however that is spelled`(odd: String) throws {
        for path in ["\(odd)orders/1", "/orders\(odd)1", "/orders/1\(odd)2/3", "/admin\(odd)orders/1"] {
            #expect(Self.isOdd(path), "\(path)")
            #expect(try !Self.allows("/**", path), "\(path)")
        }
    }

    @Test(arguments: [
        "/orders/..", "/orders/.", "/orders/%2E.", "/orders/..;x", "/orders%2f..", "/orders/..%00",
    ])
    func `allow none that ends with a dot segment`(path: String) throws {
        #expect(try !Self.allows("/**", path))
    }

    @Test(arguments: [
        "/", "/a/", "/a%2f", "/.a", "/a.", "/...", "/a/..b", "/a;/b", "/a;..;/b", "/a%2eb", "/*", "/a/;x",
        "/100%25", "/a%2520b", "/%252e%252e%252e", "/https%253A%252F%252Fa.example", "/%25zz%2525",
    ])
    func `take a slash at the end, and dots in a name, for nothing odd`(path: String) throws {
        #expect(!Self.isOdd(path))
    }

    @Test(arguments: [
        ("/orders/**", "/%6frders/1"), ("/orders/**", "/orders;x/1"), ("/orders/1", "/orders/%31"),
        ("/~a", "/%7Ea"),
    ])
    func `judge the bytes as they stand too`(pattern: String, path: String) throws {
        #expect(try !Self.allows(pattern, path))
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
        ("/a/%2e%2E/b", .unmatchable), ("/.%2e", .unmatchable),
    ])
    func `refuse patterns that nothing would match`(text: String, fault: PathPattern.Fault) {
        #expect(throws: fault) { try PathPattern(text) }
    }

    /// Tried with all that attacks on path rules are made of; the same paths in every run.
    @Test func `hold for each kind of server there is`() throws {
        let pieces = [
            "/", "/", "/", "//", "\\", "/\\", "%2f", "%5C", "..", ".", "%2e", "%2E%2e", ".%2e", "..;x", ";",
            ";x=1", "%3b",
            "%00", "%3f", "%23", "orders", "admin", "1", "items", "%61dmin", "%25", "+", "%20", "*", "%31",
            "%2B",
        ]
        let patterns = try ["/orders/**", "/orders/*", "/orders/*/items", "/**/items", "/*/1"]
            .map(
                PathPattern.init)
        var random = RepeatableGenerator(seed: 0xA110_0000_0000_0001)
        var allowed = 0
        for _ in 0..<20_000 {
            var text = ["/orders/", "/", "//orders/", "/orders"].randomElement(using: &random) ?? ""
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                text += pieces.randomElement(using: &random) ?? ""
            }
            for pattern in patterns {
                if let violation = Invariants.violation(path: Array(text.utf8), goingUpBy: pattern) {
                    Issue.record("\(text) by \(pattern.text): \(violation)")
                    return
                }
                if try Self.allows(pattern.text, text) { allowed += 1 }
            }
        }
        #expect(allowed > 1_000)
    }

    /// A server that reads a path in any of the ways there are must not be led elsewhere than a rule says.
    @Test func `hold for every server there may be`() throws {
        let alphabet = ["a", "b", "/", "/", ".", "..", ";", "%2f", "%5c", "\\", "%3b", "%2e", "%61", "%3f"]
        let patterns = try ["/a/**", "/a/*", "/a/*/b", "/a/b", "/*/b", "/**/b", "/a/**/b*"].map(
            PathPattern.init)
        var generator = RepeatableGenerator(seed: 0xA110_0000_0000_0003)
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
