// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import Testing

@Suite struct `A URL` {
    @Test(arguments: [
        ("http://a", "http://a", "a", 80, "/"),
        ("https://A.Example/P?q=1", "https://a.example", "a.example", 443, "/P?q=1"),
        ("HTTPS://a:443", "https://a", "a", 443, "/"),
        ("http://a:8080/", "http://a:8080", "a:8080", 8080, "/"),
        ("http://a?q", "http://a", "a", 80, "/?q"),
        ("http://[::1]:8080/x", "http://[::1]:8080", "[::1]:8080", 8080, "/x"),
        ("https://[2001:DB8::1]", "https://[2001:db8::1]", "[2001:db8::1]", 443, "/"),
        ("http://a/?", "http://a", "a", 80, "/?"),
        ("http://a/%41;b=c@d:e", "http://a", "a", 80, "/%41;b=c@d:e"),
        ("http://a/b//c/../d", "http://a", "a", 80, "/b//c/../d"),
    ])
    func `a URL has its parts`(
        text: String, origin: String, authority: String, port: Int, target: String
    ) throws {
        let url = try #require(HTTPURL(text))
        #expect(url.origin == origin)
        #expect(url.authority == authority)
        #expect(Int(url.port) == port)
        #expect(url.target == target)
        #expect(HTTPURL(url.description) == url)
    }

    @Test(arguments: [
        "", "a", "http", "http:", "http:/a", "http://", "http:///a", "http://:80", "http://?q", "//a/b",
        "ftp://a",
        "http://u@a", "http://u:p@a/", "http://a:", "http://a:/", "http://a:0", "http://a:65536",
        "http://a:8x", "http://a:-1",
        "http://a:080000", "http://a#f", "http://a/b#", "http://a/ b", "http://a/b c", " http://a",
        "http://a ",
        "http://a\n", "http://a/\0", "http://a/é", "http://é/", "http://a/%", "http://a/%4", "http://a/%zz",
        "http://a/<b>",
        "http://a/b\\c", "http://a\\b", "http://[::1", "http://[::1]x", "http://[::g]",
        "http://[1:2:3:4:5:6:7:8:9]",
        "http://[1::2::3]", "http://[:1]", "http://[fe80::1%25eth0]", "http://::1/", "http+unix:",
        "http+unix:a",
        "http+unix:/a\0b", "https+unix:/a",
    ])
    func `anything else is no URL`(text: String) {
        #expect(HTTPURL(text) == nil)
    }

    @Test func `a Unix socket is named by its absolute path`() throws {
        let url = try #require(HTTPURL("http+unix:/run/my api.sock"))
        #expect(url.scheme == .unix)
        #expect(url.socketPath == "/run/my api.sock")
        #expect(url.target == "/")
        #expect(url.isLoopback)
        #expect(url.description == "http+unix:/run/my api.sock")
    }

    @Test(arguments: [
        ("localhost", true), ("LOCALHOST", true), ("a.localhost", true), ("127.0.0.1", true),
        ("127.255.0.9", true),
        ("[::1]", true), ("[0:0:0:0:0:0:0:1]", true), ("[::ffff:127.0.0.1]", true), ("128.0.0.1", false),
        ("localhost.example.com", false), ("notlocalhost", false), (".localhost", false),
        ("127.0.0.1.example.com", false),
        ("127.1", false), ("0177.0.0.1", false), ("127.0.0.256", false), ("2130706433", false),
        ("0.0.0.0", false),
        ("[::]", false), ("[::2]", false), ("[::ffff:10.0.0.1]", false), ("[1::1]", false),
        ("10.0.0.1", false),
    ])
    func `only this machine is loopback`(host: String, isLoopback: Bool) throws {
        #expect(try #require(HTTPURL("http://\(host)/")).isLoopback == isLoopback)
    }

    @Test(arguments: [
        ("127.0.0.1:8080", ListenAddress.tcp(host: "127.0.0.1", port: 8080)),
        ("[::1]:0", .tcp(host: "::1", port: 0)),
        ("localhost:65535", .tcp(host: "localhost", port: 65_535)),
        ("unix:/run/b.sock", .unix(path: "/run/b.sock")),
        ("unix:b.sock", .unix(path: "b.sock")), ("systemd:http", .systemd(name: "http")),
        ("fd:3", .descriptor(3)),
    ])
    func `a listen address has four forms`(text: String, address: ListenAddress) throws {
        #expect(ListenAddress(text) == address)
        #expect(address.description == text)
        #expect(address.isLoopback)
    }

    @Test(arguments: [
        "", "8080", ":8080", "localhost", "localhost:", "localhost:65536", "localhost:-1", "localhost:80x",
        "::1:80", "[::1]",
        "[::1:80", "a b:80", "http://a:80", "unix:", "systemd:", "systemd:a b", "fd:", "fd:-1", "fd:x",
        "fd:99999999999",
    ])
    func `anything else is no listen address`(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test(arguments: ["0.0.0.0:80", "[::]:80", "10.0.0.1:80", "example.com:80"])
    func `other addresses are not loopback`(text: String) throws {
        #expect(try !#require(ListenAddress(text)).isLoopback)
    }
}
