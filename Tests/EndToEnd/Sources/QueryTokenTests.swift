// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// `query` on a route: the token is a parameter of the upstream's target.
@Suite(.blocking) struct `An API key in the query` {
    private func site(route: String = "query: api key", upstream: RawUpstream? = nil) throws -> SourceSite {
        let directory = try TemporaryDirectory()
        try directory.write("key", "k+/=&%-key\n")
        return try SourceSite(
            identity: "source: static\ntoken_file: key", route: route,
            top: "audit: {file: \(directory.path("audit"))}", directory: directory, upstream: upstream)
    }

    @Test(arguments: [
        ("/", "/?api%20key=k%2B%2F%3D%26%25-key"),
        ("/a?b=c", "/a?b=c&api%20key=k%2B%2F%3D%26%25-key"),
        ("/a?", "/a?api%20key=k%2B%2F%3D%26%25-key"),
        ("/a?b&", "/a?b&api%20key=k%2B%2F%3D%26%25-key"),
        ("/a?api%20key=mine", "/a?api%20key=k%2B%2F%3D%26%25-key"),
        ("/a?b=%7e&%61pi+%6bey=mine&c=d%zz", "/a?b=%7e&c=d%zz&api%20key=k%2B%2F%3D%26%25-key"),
        ("/a?api+key&b=1;api%20%6B%65%79=2;c", "/a?b=1;c&api%20key=k%2B%2F%3D%26%25-key"),
        (
            "/a?apikey=1&api%20key2=2&xapi%20key=3",
            "/a?apikey=1&api%20key2=2&xapi%20key=3&api%20key=k%2B%2F%3D%26%25-key"
        ),
        ("/a?x=api%20key=1", "/a?x=api%20key=1&api%20key=k%2B%2F%3D%26%25-key"),
    ])
    func `is put behind what the client asks for, in place of its own`(
        _ target: String, _ expected: String
    ) throws {
        let site = try site()
        #expect(try site.get(target, [("Authorization", "Bearer mine")]).status == 200)
        let request = try site.upstream.request()
        #expect(request.head.target == expected)
        #expect(request["Authorization"] == "Bearer mine")
    }

    @Test func `is in no line, audit, answer or Location`() throws {
        let upstream = try RawUpstream { request in
            switch request.head.target.prefix(3) {
            case "/ab":
                .response(302, [("Location", "http://\(request["Host"] ?? "")\(request.head.target)#f")])
            case "/re":
                .response(
                    302, [("Location", request.head.target), ("Content-Location", request.head.target)])
            case "/qu":
                .response(302, [("Location", String(request.head.target.drop { $0 != "?" }) + "&z=1")])
            case "/fo": .response(302, [("Location", "https://elsewhere.example/?api%20key=theirs")])
            default: .close
            }
        }
        let site = try site(route: "query: api key\nretry_on_status: [401]", upstream: upstream)
        #expect(try site.get("/abs?a=1")["Location"] == "http://\(try site.bearerd.proxy)/abs?a=1#f")
        let relative = try site.get("/rel")
        #expect(relative["Location"] == "/rel" && relative["Content-Location"] == "/rel")
        #expect(try site.get("/query?y=2")["Location"] == "?y=2&z=1")
        #expect(try site.get("/foreign")["Location"] == "https://elsewhere.example/?api%20key=theirs")
        let broken = try site.get("/broken")
        #expect(broken.status == 502)
        try site.bearerd.logLine("the access lines") {
            $0.json["path"].string == "/broken" || $0["target"] == "/broken"
        }
        let audit = String(
            decoding: TemporaryDirectory.contents(of: site.directory.path("audit")), as: UTF8.self)
        let shown = try site.everythingShown() + audit + String(decoding: broken.raw, as: UTF8.self)
        for leak in ["k+/=&%-key", "%26%25-key", "k%2B%2F"] { #expect(!shown.contains(leak), "\(leak)") }
    }

    @Test func `is in no field that nests the target, however often it is encoded`() throws {
        let upstream = try RawUpstream { request in
            let target = request.head.target
            let nested = target.utf8.map { byte in
                let isPlain =
                    Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber
                    || "-._~".utf8.contains(byte)
                return isPlain
                    ? String(UnicodeScalar(byte))
                    : "%" + (byte < 16 ? "0" : "")
                        + String(byte, radix: 16, uppercase: true)
            }.joined()
            return .response(
                302,
                [
                    ("Location", "/login?next=\(nested)"), ("Link", "<\(target)&page=2>; rel=next"),
                    ("Refresh", "0; url=https://elsewhere.example/?back=\(nested)"),
                ])
        }
        let site = try site(upstream: upstream)
        let answer = try site.get("/orders?a=1")
        #expect(answer["Location"]?.hasPrefix("/login?next=%2Forders") == true, "\(answer.text)")
        let shown = ["Location", "Link", "Refresh"].compactMap { answer[$0] }
        #expect(shown.count == 3)
        for leak in ["k+/=&%-key", "%26%25-key", "k%2B%2F", "k%252B%252F", "%2526%2525"] {
            #expect(!shown.contains { $0.contains(leak) }, "\(leak): \(shown)")
        }
    }

    @Test func `is exchanged for another one in a replay`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("key", "old")
        let upstream = try RawUpstream { request in
            if request.head.target.hasSuffix("key=new") { return .ok() }
            try directory.write("key", "new")
            return .unauthorized
        }
        let site = try SourceSite(
            identity: "source: static\ntoken_file: key", route: "query: key", directory: directory,
            upstream: upstream)
        #expect(try site.get("/a?b=1&key=mine").status == 200)
        #expect(upstream.requests.map(\.head.target) == ["/a?b=1&key=old", "/a?b=1&key=new"])
    }

    @Test func `is in no OPTIONS for the whole server, whose answer says nothing of it`() throws {
        let upstream = try RawUpstream { $0.head.method == "OPTIONS" ? .unauthorized : .ok() }
        let site = try site(upstream: upstream)
        #expect(try site.get("/a").status == 200)
        for _ in 0..<3 {
            #expect(try RawClient(to: site.bearerd.proxy).request("OPTIONS", "*").status == 401)
        }
        #expect(upstream.requests.map(\.head.target).dropFirst() == ["*", "*", "*"])
        #expect(try site.state() == "authorized")
        #expect(try site.requests("static") == 1)
    }

    @Test(arguments: [
        ("query: key\nupstream: http://api.example.com\nallow_insecure_upstream: true", "plain http"),
        ("query: key\nheader: X-Key", "header"), ("query: key\nscheme: none", "header"),
        ("query: ''", "empty"), ("query: key\nauthorization: preserve", "authorization"),
    ])
    func `is refused where it would be seen, or could not be meant`(_ route: String, _ word: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write("key", "api-key")
        let own = route.contains("upstream: ")
        var text = SourceSite.configuration(identity: "source: static\ntoken_file: key", route: route)
        if own {
            text = text.split(separator: "\n").filter { $0 != "    upstream: http://127.0.0.1:1" }.joined(
                separator: "\n")
        }
        let check = try BearerdProcess.command("check", "-c", try directory.write("config.yaml", text))
        #expect(check.exit == 78 && check.errors.contains(word), "\(check.errors)")
    }
}
