// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPMessages
import Testing

@testable import BearerdProxy

struct `The access policy` {
    private let policy = AccessPolicy(
        origins: ["https://app.example"], peerUsers: [7], keys: [CurrentSecret(Secret("fake-key"))])

    private func judge(_ fields: [(HTTPFields.Name, String)], key: String? = "fake-key") -> ProxyError.Denial?
    {
        var all = HTTPFields()
        all.append(.host, "localhost:1")
        for (name, value) in fields { all.append(name, value) }
        if let key { all.append(.bearerdKey, key) }
        return policy.judge(all)
    }

    @Test func `a page of another origin is turned away`() {
        #expect(judge([(.origin, "https://evil.example")]) == .origin)
        #expect(judge([(.origin, "null")]) == .origin)
        #expect(judge([(.secFetchSite, "cross-site")]) == .site)
        #expect(judge([(.secFetchSite, "same-site")]) == .site)
    }

    @Test func `a listed origin, our own, and no browser at all may call`() {
        #expect(judge([(.origin, "https://app.example"), (.secFetchSite, "cross-site")]) == nil)
        #expect(judge([(.origin, "http://localhost:1")]) == nil)
        #expect(judge([(.secFetchSite, "none")]) == nil)
        #expect(judge([]) == nil)
    }

    @Test(arguments: [
        ("http://evil.example/a?b#c", "http://evil.example"),
        ("https://A.example:443?b", "https://a.example"),
        ("http://a:81", "http://a:81"), ("http://u@a/", "http://u@a"), ("x://y/z", "x://y"), ("/a", nil),
        ("", nil),
        ("about:blank", nil), ("a/b?c=http:/d", nil),
    ])
    func `a Referer names the origin of its page`(referer: String, origin: String?) {
        #expect(AccessPolicy.origin(ofReferer: referer) == origin)
    }

    @Test(arguments: [
        ("app.example:80", HTTPURL.Scheme.http, "http://app.example"),
        ("App.example:443", .https, "https://app.example"), ("[::1]:80", .http, "http://[::1]"),
    ])
    func `our own is so too where Host names the default port`(
        host: String, scheme: HTTPURL.Scheme, own: String
    ) {
        for (name, value) in [(HTTPFields.Name.origin, own), (.referer, own + "/x")] {
            var fields = HTTPFields()
            fields.append(.host, host)
            fields.append(name, value)
            #expect(AccessPolicy().judge(fields, scheme: scheme, judgesReferer: true) == nil)
            fields[.host] = host + "1"
            #expect(AccessPolicy().judge(fields, scheme: scheme, judgesReferer: true) != nil)
        }
    }

    @Test func `the key must be there, once, and right`() {
        #expect(judge([], key: nil) == .key)
        #expect(judge([], key: "fake-kez") == .key)
        #expect(judge([(.bearerdKey, "fake-key")]) == .key)
    }

    @Test func `a socket's peer must be a listed user`() {
        #expect(policy.admits(.unix(user: 7, process: 1)))
        #expect(!policy.admits(.unix(user: 8, process: 1)))
        #expect(policy.admits(.ip("127.0.0.1")))
    }
}
