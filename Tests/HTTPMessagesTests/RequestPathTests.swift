// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import BearerdHTTPMessages
import Testing

@Suite struct `The path of a request` {
    @Test(arguments: [
        "/", "/a", "/a/", "/a/b.c/d", "/.well-known/x", "/..a", "/a..", "/a./b", "/...", "/a:b@c", "/a|[]{}",
        "/é",
    ])
    func `a normal path needs no second one`(path: String) {
        #expect(RequestPath.normalized(Array(path.utf8).span) == nil)
    }

    @Test(arguments: [
        ("", "/"), ("/.", "/"), ("/..", "/"), ("/./", "/"), ("/../", "/"), ("/a/.", "/a/"), ("/a/..", "/"),
        ("/a/../b", "/b"), ("/a/./b", "/a/b"), ("/a/b/../../c", "/c"), ("/../../a", "/a"), ("//", "/"),
        ("//a", "/a"),
        ("/a//b", "/a/b"), ("/a//", "/a/"), ("/a\\b", "/a/b"), ("/a\\..\\b", "/b"), ("\\\\a", "/a"),
        ("/a;x=1/b", "/a/b"), ("/a;x", "/a"), ("/a/;x/b", "/a/b"), ("/a/..;/b", "/b"), ("/a/.;x/b", "/a/b"),
        ("/a/%2e%2e/b", "/b"), ("/a/%2E./b", "/b"), ("/a/.%2e", "/"), ("/%2e", "/"), ("/a%2fb", "/a/b"),
        ("/a%2F..%2Fb", "/b"), ("/a%5c..%5Cb", "/b"), ("/%61dmin", "/admin"), ("/%7euser", "/~user"),
        ("/a%2fb/..;p/c%2F", "/a/c/"), ("/a%20b", "/a%20b"), ("/a%3Bb", "/a%3Bb"), ("/a%00", "/a%00"),
        ("/%252e%252e/a", "/%252e%252e/a"), ("/%", "/%25"), ("/%2", "/%252"), ("/%zz", "/%25zz"),
        ("/%c3%bc\\", "/%C3%BC/"), ("/a%3a\u{FC}|/.", "/a%3A%C3%BC%7C/"),
        ("/a/%2e%2e", "/"),
        ("/a/b/%2e", "/a/b/"),
    ])
    func `what servers read differently is resolved`(path: String, normal: String) {
        #expect(RequestPath.normalized(Array(path.utf8).span).map(latin1) == normal)
    }

    @Test(arguments: [
        ("/", "/", true), ("/", "/a", true), ("/a", "/a", true), ("/a", "/a/", true), ("/a", "/a/b", true),
        ("/a", "/ab", false), ("/a", "/", false), ("/a", "/A", false), ("/a/", "/a", true),
        ("/a/", "/a/b", true),
        ("/a/", "/ab", false), ("/a/b", "/a", false), ("/a/b", "/a/b/c", true), ("/a", "", false),
    ])
    func `a route's prefix ends where a segment ends`(prefix: String, path: String, matches: Bool) {
        #expect(RequestPath.hasPrefix(Array(prefix.utf8).span, Array(path.utf8).span) == matches)
    }

    @Test(arguments: [
        ("/a:b@c,d=e!$&'()*+;~", "/a:b@c,d=e!$&'()*+;~"), ("/\u{FC}/|", "/%C3%BC/%7C"),
        ("/%c3%bc%2f", "/%C3%BC%2F"),
        ("/a b%", "/a%20b%25"), ("/%61%zz\\", "/%61%25zz%5C"), ("//..", "//.."), ("", ""),
    ])
    func `characters that no path has as they are have one spelling`(path: String, spelled: String) {
        #expect(latin1(RequestPath.canonical(Array(path.utf8).span)) == spelled)
    }

    @Test(arguments: [
        ("/a/b/c?d/e", 0, 0), ("/a/b/c", 1, 2), ("/%C3%BC/b", 1, 7), ("/a/b?c/d", 2, 4), ("/a/b", 2, 4),
        ("/a/", 1, 2), ("/a", 5, 2), ("?/", 1, 0),
    ])
    func `its first segments end before a slash`(target: String, segments: Int, count: Int) {
        #expect(RequestPath.count(ofSegments: segments, in: Array(target.utf8).span) == count)
    }

    @Test(arguments: [
        ("", false), ("/", false), ("/a/..", false), ("/a/../b/..", false), ("/./a/./..", false),
        ("/..", true), ("/../a", true), ("/a/../../b", true), ("/a/../../a/b", true), ("/%2e%2E/a", true),
        ("//..", true), ("/.../..", false),
    ])
    func `dots lead above the beginning, be it for a moment`(path: String, climbs: Bool) {
        #expect(RequestPath.climbs(Array(path.utf8).span) == climbs)
    }

    @Test(arguments: [
        ("/a/b?c", "", 0, "/a/b?c"), ("/a/b?c", "/x", 0, "/x/a/b?c"), ("/a/b?c", "", 2, "/b?c"),
        ("/a/b?c", "/x/y", 2, "/x/y/b?c"), ("/a", "", 2, "/"), ("/a?b", "", 2, "/?b"),
        ("/a?b", "/x", 2, "/x/?b"),
        ("/a", "/x", 99, "/x/"), ("/ab", "", 2, "/b"),
    ])
    func `a target's front is exchanged`(target: String, prefix: String, dropped: Int, sent: String) {
        var request = HTTPRequest(method: .get, target: target)
        request.setTarget(prefix: Array(prefix.utf8), droppingFirst: dropped)
        #expect(request.target == sent)
    }

    @Test func `the asterisk has no front`() {
        var request = HTTPRequest(method: .options, target: "*")
        request.setTarget(prefix: Array("/x".utf8), droppingFirst: 1)
        #expect(request.target == "*")
    }

    @Test func `a target that is set cannot end the line`() {
        let request = HTTPRequest(method: .get, target: "/a b\r\nX: \u{7F}?c")
        #expect(request.target == "/a%20b%0D%0AX:%20%7F?c")
        #expect(latin1(request.pathBytes) == "/a%20b%0D%0AX:%20%7F")
    }
}
