// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

/// What may be believed of a path that servers read differently.
@Suite struct `A path that servers read differently` {
    private func understanding(of path: String) -> RequestPath.Understanding {
        RequestPath.understanding(of: Array(path.utf8).span)
    }

    @Test(arguments: ["/", "/a/b.c", "/a/.b/..c", "/a:b@c,d=e", "/~/-._", "/.../x"])
    func `a plain path says what it means`(path: String) {
        #expect(understanding(of: path) == .asSent)
    }

    @Test(arguments: [
        ("/a/../b", ["/b", "/a/../b"]), ("/a//b", ["/a/b"]), ("/a\\b", ["/a/b"]), ("/a%2fb", ["/a/b"]),
        ("/%61", ["/a"]), ("/a;b/c", ["/a/c"]), ("/a%3bb/c", ["/a%3Bb/c", "/a/c"]),
        // Whoever cuts parameters off first never sees the slash in them.
        ("/a;x%2fy/b", ["/a/b", "/a/y/b"]), ("/a;x\\y%5Cz", ["/a", "/a/y%5Cz", "/a/y/z", "/a/z"]),
        // To some this is a name.
        ("/a/../%2e%2e/b", ["/%2E%2E/b", "/b", "/a/../../b"]), ("/a/%2e%2e/b", ["/b", "/a/../b"]),
        ("/a/.b%2e/c", ["/a/.b./c"]),
        // Characters that no path may have as they are have one spelling, delimiters have two.
        ("/%c3%bc%7c", ["/%C3%BC%7C"]), ("/a%/\u{FC}", ["/a%25/%C3%BC"]),
        ("/a%3ab%2C", ["/a%3Ab%2C", "/a:b,"]),
        ("/a:b/../b%3ac", ["/b%3Ac", "/b:c", "/a:b/../b%3Ac", "/a:b/../b:c"]),
        // Some servers end a path there.
        ("/a/b%00c/d", ["/a/b%00c/d", "/a/b"]), ("/a%3f%23", ["/a%3F%23", "/a"]),
        ("/a;%23/b", ["/a/b", "/a"]), ("/a%23;x/b%3A", ["/a%23/b%3A", "/a%23/b:", "/a"]),
    ])
    func `another has a few normal forms`(path: String, forms: [String]) throws {
        guard case .oneOf(let found) = understanding(of: path) else {
            Issue.record("\(understanding(of: path))")
            return
        }
        #expect(Set(found.map(latin1)) == Set(forms))
    }

    private static let dots = ["..", ".", "%2e", "%2E.", ".%2e", "%2e%2E"]
    private static let doubts = [
        "\\", "%5c", "%5C", "%2f", "%2F", "//", ";", "%3b", "%3B", "%00", "%3F", "%23",
    ]

    @Test(arguments: dots, doubts)
    func `dots and a doubtful end of a segment mean anything`(dots: String, doubt: String) {
        for path in [
            "/\(dots)/a\(doubt)b", "/a\(doubt)b/\(dots)", "/\(dots)\(doubt)a", "/a/\(dots)\(doubt)",
            "/a/b\(doubt)\(dots)", "/a\(doubt)\(dots)/b", "/a\(doubt)\(dots)\(doubt)b", "/\(doubt)/\(dots)/a",
        ] {
            #expect(understanding(of: path) == .anything, "\(path)")
        }
    }

    @Test func `two slashes at the start are doubtful too`() {
        #expect(understanding(of: "//a/../b") == .anything)
        #expect(understanding(of: "//../b") == .anything)
        #expect(understanding(of: "/a/..//") == .anything)
    }

    @Test func `a normal form is not written out further than somebody asks`() throws {
        let pieces = ["a;%5c%2f\\%3b/", "b%2fb/", "a/../", "./a/b/../../", "%2e%2e/abc/def/", "/..x/%41"]
        for piece in pieces {
            let path = Array(("/" + String(repeating: piece, count: 1_000)).utf8)
            guard case .oneOf(let forms) = RequestPath.understanding(of: path.span, upTo: 20) else {
                continue
            }
            // The last segment may be as long again.
            #expect(forms.allSatisfy { $0.count <= 42 }, "\(piece)")
        }
    }

    @Test func `what a normal form says of routes is so however much of it is written out`() {
        var random = PathGenerator(numbers: .init(seed: 0xDA7A_0000_0000_0017))
        let routes = ["/", "/a", "/a/b", "/reports", "/reports/admin", "/reports/admin/x", "/..", "/%2e"]
        var judged = 0
        while judged < 500 {
            let path = Array(random.path().utf8)
            guard case .oneOf(let whole) = RequestPath.understanding(of: path.span) else { continue }
            judged += 1
            for route in routes.map({ Array($0.utf8) }) {
                let cut = RequestPath.understanding(of: path.span, upTo: route.count + 1)
                guard case .oneOf(let forms) = cut else {
                    Issue.record("\(latin1(path))")
                    continue
                }
                let matches = { (forms: [[UInt8]]) in
                    forms.map { RequestPath.hasPrefix(route.span, $0.span) }
                }
                #expect(matches(forms) == matches(whole), "\(latin1(path)) on \(latin1(route))")
            }
        }
    }

    @Test func `however servers read a path, it stays where its route is`() {
        var random = PathGenerator(numbers: .init(seed: 0xDA7A_0000_0000_0011))
        var judged = 0
        while judged < 500 {
            let path = Array(random.path().utf8)
            guard RequestPath.understanding(of: path.span) != .anything else { continue }
            judged += 1
            let readers = (0..<12).compactMap { _ in PathReader.all.randomElement(using: &random.numbers) }
            #expect(Invariants.violation(path: path, readers: readers) == nil)
        }
    }
}

/// Makes paths of what attacks on path rules are made of; the same ones in every run.
private struct PathGenerator {
    var numbers: RepeatableGenerator

    private static let pieces = [
        "/", "/", "/", "/", "/", "\\", "%5c", "%5C", "%2f", "%2F", "//", ";", ";x", ";x=1", "%3b", ".", "..",
        "..",
        "/../", "/..", "%2e", "%2E", ".%2e", "a", "b", "reports", "admin", "x", "%00", "%3f", "...", "%252e",
    ]

    mutating func path() -> String {
        var path = Bool.random(using: &numbers) ? "/reports/" : "/"
        for _ in 0..<Int.random(in: 1...8, using: &numbers) {
            path += Self.pieces.randomElement(using: &numbers) ?? ""
        }
        return path
    }
}
