// SPDX-License-Identifier: Apache-2.0

/// The answer of a test's server to one request.
package struct Reply: Sendable {
    private let perform: @Sendable (Wire) throws -> Bool

    /// `perform` writes the answer and returns true if the connection stays open.
    package init(_ perform: @escaping @Sendable (Wire) throws -> Bool) { self.perform = perform }

    /// Carries it out.
    package func send(to wire: Wire) throws -> Bool { try perform(wire) }

    /// A well-formed answer with `Content-Length`.
    package static func response(
        _ status: Int, _ fields: [(String, String)] = [], _ body: String = ""
    ) -> Reply {
        var text = "HTTP/1.1 \(status) Status\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        if status != 204, status != 304 { text += "Content-Length: \(body.utf8.count)\r\n" }
        return .raw(text + "\r\n" + body)
    }

    /// 200 with a text.
    package static func ok(_ body: String = "hello") -> Reply {
        .response(200, [("Content-Type", "text/plain")], body)
    }

    /// An answer that is a JSON document.
    package static func json(_ body: String, status: Int = 200) -> Reply {
        .response(status, [("Content-Type", "application/json"), ("Cache-Control", "no-store")], body)
    }

    /// 401 as a resource server says it (RFC 6750 section 3).
    package static let unauthorized = Reply.response(
        401, [("WWW-Authenticate", #"Bearer realm="api", error="invalid_token""#)], "who are you?")

    /// Exactly these bytes; then the connection goes on, or ends.
    package static func raw(_ text: String, thenClose: Bool = false) -> Reply {
        Reply { wire in
            try wire.send(text)
            if thenClose { wire.close() }
            return !thenClose
        }
    }

    /// 200 with content in a coding, whether that was asked for or not (RFC 9110 §8.4).
    package static func encoded(_ coding: String, _ body: [UInt8]) -> Reply {
        Reply { wire in
            try wire.send(
                "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n")
            try wire.send(body)
            return true
        }
    }

    /// Grants the upgrade to a WebSocket, and sends back all that comes.
    package static let echo = Reply { wire in
        try wire.grantWebSocket()
        while case let bytes = try wire.readSome(), !bytes.isEmpty { try wire.send(bytes) }
        return false
    }

    /// Ends the connection without a byte.
    package static let close = Reply { wire in
        wire.close()
        return false
    }

    /// Resets the connection.
    package static let reset = Reply { wire in
        wire.reset()
        return false
    }

    /// These bytes one by one, so slowly that they never end before the peer loses patience.
    package static func dripping(_ text: String, every pace: Duration = .milliseconds(100)) -> Reply {
        Reply { wire in
            for byte in text.utf8 {
                try wire.send([byte])
                if try wire.hasSomething(within: pace) { return false }
            }
            return false
        }
    }

    /// This answer, sent once `gate` is open.
    package func held(by gate: Gate) -> Reply {
        Reply { wire in
            try gate.pass()
            return try send(to: wire)
        }
    }
}

extension Wire {
    /// Grants the upgrade to a WebSocket (RFC 9110 §7.8).
    ///
    /// - Parameter text: the first that is sent in the tunnel.
    package func grantWebSocket(_ fields: [(String, String)] = [], sending text: String = "") throws {
        let lines = fields.map { "\($0): \($1)\r\n" }.joined()
        try send(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\(lines)\r\n\(text)"
        )
    }
}
