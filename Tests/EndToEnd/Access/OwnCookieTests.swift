// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// A browser that has the admin listener's cookies sends them to the data listeners of the same host too.
@Suite(.blocking) struct `The admin listener's cookies` {
    @Test func `go to no upstream, and none sets them`() throws {
        let upstream = try RawUpstream { _ in
            .response(
                200, [("Set-Cookie", "bearerd_admin=theirs; Path=/"), ("Set-Cookie", "own=1")], "hello")
        }
        let none = "- {path: /none, upstream: '\(upstream.url)', identity: none}"
        let sidecar = try Sidecar(upstream: upstream, .init(moreRoutes: none))
        for (number, path) in ["/", "/none"].enumerated() {
            let cookies = [
                ("Cookie", "a=1; bearerd_admin=fake"), ("cookie", "bearerd_login_x=fake"),
                ("Cookie", "b=2 ;"),
            ]
            let answer = try sidecar.get(path, cookies)
            #expect(answer.head.values("Set-Cookie") == ["own=1"], "\(path)")
            #expect(try upstream.request(number + 1).head.values("Cookie") == ["a=1", "b=2 ;"], "\(path)")
        }
    }

    @Test func `are set by no interim answer and by no switch to another protocol`() throws {
        let upstream = try RawUpstream { request in
            let status = request.head.target == "/socket" ? "101 Switching Protocols" : "103 Early Hints"
            return Reply { wire in
                try wire.send(
                    "HTTP/1.1 \(status)\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
                        + "Set-Cookie: =bearerd_admin=theirs\r\nSet-Cookie: own=1\r\n\r\n")
                if status.hasPrefix("103") {
                    // What nobody answers any more must not be kept for the next request.
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                }
                return try wire.endsCleanly()
            }
        }
        let sidecar = try Sidecar(upstream: upstream)
        for (path, status) in [("/hints", 103), ("/socket", 101)] {
            let client = try sidecar.client()
            try client.send("GET", path, [("Connection", "Upgrade"), ("Upgrade", "websocket")])
            let head = try #require(try client.wire.readHead())
            #expect(head.status == status)
            #expect(head.values("Set-Cookie") == ["own=1"], "\(path)")
        }
    }
}
