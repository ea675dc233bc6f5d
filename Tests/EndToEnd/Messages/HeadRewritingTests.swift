// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What happens to heads on the way, both ways (RFC 9110 section 7.6).
@Suite(.blocking) struct `Heads are rewritten` {
    @Test func `hop-by-hop fields and those that Connection names stay behind`() throws {
        let sidecar = try Sidecar()
        _ = try sidecar.get(
            "/",
            [
                ("Connection", "keep-alive, X-Hop"), ("Keep-Alive", "timeout=5"), ("X-Hop", "1"),
                ("Proxy-Connection", "keep-alive"), ("TE", "trailers"), ("Upgrade", "h2c"),
                ("HTTP2-Settings", "AAA"), ("Proxy-Authorization", "Basic eDp5"), ("X-Stays", "Yes"),
            ])
        let seen = try sidecar.upstream.request()
        for name in [
            "Keep-Alive", "X-Hop", "Proxy-Connection", "Upgrade", "HTTP2-Settings", "Proxy-Authorization",
        ] {
            #expect(seen[name] == nil, "\(name)")
        }
        #expect(seen["X-Stays"] == "Yes")
        #expect(seen["Connection"]?.lowercased().contains("x-hop") != true)
    }

    @Test func `Connection cannot name the token away`() throws {
        let sidecar = try Sidecar()
        _ = try sidecar.get("/", [("Connection", "Authorization, Host, Content-Length")])
        let seen = try sidecar.upstream.request()
        #expect(seen["Authorization"]?.hasPrefix("Bearer access-1.") == true && seen["Host"] != nil)
    }

    @Test func `hop-by-hop fields of the answer stay behind`() throws {
        let upstream = try RawUpstream { _ in
            .response(
                200,
                [
                    ("Connection", "X-Hop"), ("X-Hop", "1"), ("Keep-Alive", "timeout=5"),
                    ("Proxy-Authenticate", "Basic"), ("X-Stays", "Yes"),
                ], "hello")
        }
        let answer = try Sidecar(upstream: upstream).get()
        #expect(answer["X-Hop"] == nil && answer["Keep-Alive"] == nil && answer["X-Stays"] == "Yes")
        #expect(answer.text == "hello")
    }

    @Test func `Host becomes the upstream's`() throws {
        let sidecar = try Sidecar()
        _ = try sidecar.get()
        #expect(try sidecar.upstream.request().head.values("Host") == [sidecar.upstream.authority])
    }

    @Test func `host_header preserve keeps the client's Host, and a value replaces it`() throws {
        let upstream = try RawUpstream()
        let sidecar = try Sidecar(
            upstream: upstream,
            .init(
                route: "host_header: preserve",
                moreRoutes:
                    "- path: /named\n  upstream: \(upstream.url)\n  identity: default\n  host_header: api.test"
            ))
        let host = "\(try sidecar.bearerd.proxy)"
        _ = try sidecar.get("/")
        _ = try sidecar.get("/named")
        #expect(upstream.requests.map { $0["Host"] } == [host, "api.test"])
    }

    @Test func `Via is added to what came before, and not if it is turned off`() throws {
        let upstream = try RawUpstream()
        let sidecar = try Sidecar(
            upstream: upstream,
            .init(
                moreRoutes: "- path: /quiet\n  upstream: \(upstream.url)\n  identity: default\n  via: false"))
        _ = try sidecar.get("/", [("Via", "1.0 other")])
        _ = try sidecar.get("/quiet")
        let via = try upstream.request(1).head.values("Via").joined(separator: ", ")
        #expect(via.hasPrefix("1.0 other, 1.1 ") && via.hasSuffix("bearerd"))
        #expect(try upstream.request(2)["Via"] == nil)
    }

    @Test func `five times bearerd in Via is a loop`() throws {
        let sidecar = try Sidecar()
        let looped = try sidecar.get(
            "/", [("Via", Array(repeating: "1.1 bearerd", count: 5).joined(separator: ", "))])
        #expect(looped.status == 508 && looped.problem == "loop_detected")
        #expect(try sidecar.get("/", [("Via", "1.1 bearerd")]).status == 200)
        #expect(sidecar.upstream.requests.count == 1)
        _ = try sidecar.client().exchange("GET /old HTTP/1.0\r\n\r\n")
        #expect(sidecar.upstream.requests.last?["Via"] == "1.0 bearerd")
    }

    @Test func `field names keep their case and order both ways`() throws {
        let upstream = try RawUpstream { _ in
            .raw(
                "HTTP/1.1 200 Fine\r\nx-LOWER: 1\r\nContent-Length: 2\r\nSET-cookie: a\r\nSET-cookie: b\r\n\r\nok"
            )
        }
        let sidecar = try Sidecar(upstream: upstream)
        let answer = try sidecar.get("/", [("x-ODD", "1"), ("Accept", "*/*"), ("x-ODD", "2")])
        let seen = try upstream.request().head.fields.filter { ["x-ODD", "Accept"].contains($0.name) }
        #expect(seen.map(\.value) == ["1", "*/*", "2"])
        #expect(answer.head.startLine.hasPrefix("HTTP/1.1 200"))
        let names = answer.head.fields.map(\.name)
        #expect(names.contains("x-LOWER") && names.filter { $0 == "SET-cookie" }.count == 2)
        #expect(answer.head.values("Set-Cookie") == ["a", "b"])
    }

    @Test func `X-Forwarded fields are sent on demand only`() throws {
        let upstream = try RawUpstream()
        func route(_ path: String, _ setting: String) -> String {
            "- path: /\(path)\n  upstream: \(upstream.url)\n  identity: default\n  forwarded: \(setting)\n"
        }
        let sidecar = try Sidecar(
            upstream: upstream, .init(moreRoutes: route("true", "true") + route("append", "append")))
        let claims = [("X-Forwarded-For", "6.6.6.6"), ("X-Forwarded-Proto", "https")]
        let host = "\(try sidecar.bearerd.proxy)"
        _ = try sidecar.get("/", claims)
        _ = try sidecar.get("/true", claims)
        _ = try sidecar.get("/append", claims)
        let seen = upstream.requests
        #expect(seen[0]["X-Forwarded-For"] == "6.6.6.6" && seen[0]["X-Forwarded-Host"] == nil)
        #expect(seen[1].head.values("X-Forwarded-For") == ["127.0.0.1"])
        #expect(seen[1]["X-Forwarded-Proto"] == "http" && seen[1]["X-Forwarded-Host"] == host)
        #expect(seen[2].head.values("X-Forwarded-For").joined(separator: ", ") == "6.6.6.6, 127.0.0.1")
        #expect(seen[2]["X-Forwarded-Proto"] == "https")
    }

    @Test func `request_headers and response_headers set, add and remove`() throws {
        let upstream = try RawUpstream { _ in .response(200, [("X-Secret", "1"), ("X-Kept", "1")], "") }
        let sidecar = try Sidecar(
            upstream: upstream,
            .init(
                route: """
                    request_headers:
                      set: {X-Team: blue}
                      add: {X-Tag: two}
                      remove: [Cookie]
                    response_headers:
                      set: {X-Kept: "2"}
                      add: {X-More: "3"}
                      remove: [X-Secret]
                    """))
        let answer = try sidecar.get("/", [("X-Team", "red"), ("X-Tag", "one"), ("Cookie", "a=b")])
        let seen = try upstream.request()
        #expect(seen.head.values("X-Team") == ["blue"] && seen.head.values("X-Tag") == ["one", "two"])
        #expect(seen["Cookie"] == nil)
        #expect(answer.head.values("X-Kept") == ["2"] && answer["X-More"] == "3" && answer["X-Secret"] == nil)
    }

    /// CGI writes `_` for `-`, and some gateways for everything else: two fields would become one.
    @Test func `names that gateways take for ours do not go up`() throws {
        let upstream = try RawUpstream()
        let sidecar = try Sidecar(
            upstream: upstream,
            .init(
                route: """
                    header: X-Api-Key
                    scheme: ""
                    forwarded: true
                    request_headers: {set: {X-Team-Name: blue, X_Odd_Name: a}, remove: [X-Internal-User]}
                    """,
                moreRoutes:
                    "- {path: /none, upstream: \"\(upstream.url)\", identity: none, header: X-Api-Key}"))
        let claims = [
            "X_Api_Key", "x_api-KEY", "X-Api_Key", "X.Api.Key", "X_Bearerd_Key", "x-bearerd_key",
            "X_Team_Name",
            "X-TEAM_name", "X_Internal-User", "X_Forwarded_For", "X-Forwarded_Host", "X-Odd-Name",
            "X_Odd-Name", "Content_Length", "content_LENGTH", "Transfer_Encoding", "Transfer.Encoding",
        ]
        let kept = ["X_Api_Keys", "A_B", "_", "X-Api-Keyx", "X__Api_Key", "User_Agent", "Content_Type"]
        _ = try sidecar.get("/", (claims + kept).map { ($0, "forged") })
        let seen = try upstream.request()
        #expect(seen.head.fields.filter { $0.value == "forged" }.map(\.name) == kept)
        #expect(seen.head.values("X-Api-Key").count == 1)
        #expect(seen["X-Team-Name"] == "blue" && seen["X_Odd_Name"] == "a")
        // There the key is the client's own affair, but never the listener's.
        _ = try sidecar.get("/none", [("X_Api_Key", "1"), ("X_Bearerd_Key", "2"), ("X-Api-Key", "3")])
        let plain = try upstream.request(2)
        #expect(plain["X_Api_Key"] == "1" && plain["X_Bearerd_Key"] == nil && plain["X-Api-Key"] == "3")
    }

    @Test func `a body has no second length that a gateway could believe`() throws {
        let sidecar = try Sidecar()
        let fields = [("Content_Length", "0"), ("Transfer_Encoding", "chunked"), ("X-Kept", "1")]
        #expect(try sidecar.client().request("POST", "/", fields, body: "hello").status == 200)
        let seen = try sidecar.upstream.request()
        #expect(seen.text == "hello" && seen["Content-Length"] == "5" && seen["X-Kept"] == "1")
        #expect(seen["Content_Length"] == nil && seen["Transfer_Encoding"] == nil)
    }

    @Test func `nor do they behind a body`() throws {
        let sidecar = try Sidecar(.init(route: "header: X-Api-Key\nscheme: \"\""))
        let answer = try sidecar.client().exchange(
            "POST / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "1\r\nx\r\n0\r\nX_Api_Key: forged\r\nX-Api-Key: forged\r\nX-Bearerd-Key: k\r\nContent_Length: 9\r\n"
                + "X_Sum: 1\r\n\r\n"
        )
        #expect(answer.status == 200)
        #expect(try sidecar.upstream.request().trailers.map(\.name) == ["X_Sum"])
    }

    @Test func `a length goes up in its shortest form`() throws {
        let sidecar = try Sidecar()
        let host = try sidecar.bearerd.proxy
        for (index, (given, length)) in [("0005", "5"), ("000", "0"), ("05", "5"), ("5", "5"), ("0", "0")]
            .enumerated()
        {
            let client = try sidecar.client()
            let answer = try client.exchange(
                "POST / HTTP/1.1\r\nHost: \(host)\r\nContent-Length:\(given)\r\nX-Next: 1\r\n\r\n"
                    + "12345".prefix(Int(length) ?? 0))
            #expect(answer.status == 200)
            let seen = try sidecar.upstream.request(2 * index + 1)
            #expect(seen.head.values("Content-Length") == [length] && seen["X-Next"] == "1", "\(given)")
            #expect(try client.request("GET", "/next").status == 200)
        }
    }

    @Test func `X-Request-Id is made where it is empty, and Connection cannot take it away`() throws {
        let sidecar = try Sidecar()
        _ = try sidecar.get("/", [("X-Request-Id", "")])
        _ = try sidecar.get("/", [("Connection", "X-Request-Id, X-Other"), ("X-Request-Id", "mine-2")])
        _ = try sidecar.get("/", [("X-Request-Id", ""), ("X-Request-Id", "")])
        #expect(try sidecar.upstream.request(1)["X-Request-Id"]?.isEmpty == false)
        #expect(try sidecar.upstream.request(2).head.values("X-Request-Id") == ["mine-2"])
        #expect(try sidecar.upstream.request(3).head.values("X-Request-Id").map(\.count) == [32])
    }

    @Test func `X-Request-Id is passed on, and made where there is none`() throws {
        let sidecar = try Sidecar()
        _ = try sidecar.get("/", [("X-Request-Id", "mine-1")])
        _ = try sidecar.get("/")
        #expect(try sidecar.upstream.request(1).head.values("X-Request-Id") == ["mine-1"])
        #expect(try sidecar.upstream.request(2)["X-Request-Id"]?.isEmpty == false)
        try sidecar.bearerd.logLine("the access log") { $0["request_id"] == "mine-1" }
        #expect(try sidecar.client().request("GET", "/", [("Host", "stranger.test")]).status == 421)
        try sidecar.bearerd.logLine("a refused request's own") {
            $0["status"] == "421" && ($0["request_id"] ?? "").count == 32
        }
    }

    @Test func `a Location at the upstream's own origin comes back as the listener's`() throws {
        let upstream = try RawUpstream()
        let url = upstream.url
        upstream.answer { request in
            .response(
                302,
                [
                    (
                        "Location",
                        request.head.target.contains("away") ? "https://else.test/x" : url + "/v1/next?a=b"
                    )
                ])
        }
        let sidecar = try Sidecar(
            upstream: upstream,
            .init(
                moreRoutes:
                    "- path: /api\n  upstream: \(url)/v1\n  identity: default\n  strip_prefix: true"))
        let host = "\(try sidecar.bearerd.proxy)"
        #expect(try sidecar.get("/api/here")["Location"] == "http://\(host)/api/next?a=b")
        #expect(try sidecar.get("/api/away")["Location"] == "https://else.test/x")
    }

    @Test func `a Location at the host that the upstream was told is its own too`() throws {
        let upstream = try RawUpstream { request in
            .response(302, [("Location", String(request.head.target.dropFirst()))])
        }
        let sidecar = try Sidecar(upstream: upstream, .init(route: "host_header: api.test:80"))
        let origin = "http://\(try sidecar.bearerd.proxy)"
        for (given, seen) in [
            ("http://api.test/x", origin + "/x"), ("http://API.test:80/x", origin + "/x"),
            ("http://api.test:81/x", nil), ("http://api.test.evil/x", nil), ("https://api.test/x", nil),
            (upstream.url + "/x", origin + "/x"),
        ] {
            #expect(try sidecar.get("/" + given)["Location"] == seen ?? given)
        }
    }

    @Test func `a Location at the client's own Host is the upstream's where it was told that`() throws {
        let upstream = try RawUpstream { request in
            .response(302, [("Location", String(request.head.target.dropFirst("/base/".count)))])
        }
        let route = "upstream: \(upstream.url)/base\n  identity: default\n  strip_prefix: true"
        let sidecar = try Sidecar(
            upstream: upstream,
            .init(moreRoutes: "- path: /api\n  \(route)\n  host_header: preserve\n- path: /own\n  \(route)"))
        let host = "\(try sidecar.bearerd.proxy)"
        for (given, seen) in [
            ("http://\(host)/base/x?y", "http://\(host)/api/x?y"), ("//\(host)/base", "http://\(host)/api"),
            ("\(upstream.url)/base/x", "http://\(host)/api/x"), ("http://\(host)/x", nil),
            ("https://\(host)/base/x", nil), ("http://\(host)0/base/x", nil),
        ] {
            #expect(try sidecar.get("/api/" + given)["Location"] == seen ?? given)
        }
        let foreign = "http://\(host)/base/x"
        #expect(try sidecar.get("/own/" + foreign)["Location"] == foreign)
    }

    @Test func `a Location without a scheme is the upstream's own where it names its authority`() throws {
        let upstream = try RawUpstream()
        let authority = upstream.authority
        upstream.answer { request in
            .response(
                302, [("Location", request.head.target == "/" ? "//\(authority)/next" : "//else.test/x")])
        }
        let sidecar = try Sidecar(upstream: upstream)
        #expect(try sidecar.get("/")["Location"] == "http://\(try sidecar.bearerd.proxy)/next")
        #expect(try sidecar.get("/away")["Location"] == "//else.test/x")
    }
}
