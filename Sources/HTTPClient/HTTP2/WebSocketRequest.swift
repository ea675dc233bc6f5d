// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import CBearerdOpenSSL

/// A request for a WebSocket in the words of HTTP/1.1, which HTTP/2 asks for with an extended CONNECT (RFC 8441).
struct WebSocketRequest {
    /// The protocol in `:protocol`.
    let name = "websocket"
    private let key: String?

    /// - Returns: nil if `protocols`, as in `Upgrade`, do not name a WebSocket.
    init?(_ head: HTTPRequest, offering protocols: String) {
        let names = protocols.lowercased().split(separator: ",").map { $0.filter { $0 != " " } }
        guard names.contains("websocket") else { return nil }
        key = head.fields[.secWebSocketKey]
    }

    /// Makes the response that grants an extended CONNECT the one that grants an upgrade.
    func grant(in response: inout HTTPResponse) {
        response.status = 101
        response.reason = "Switching Protocols"
        response.fields[.upgrade] = name
        if let key { response.fields[.secWebSocketAccept] = Self.accept(key) }
    }

    /// The proof that the server has understood the key (RFC 6455 §4.2.2).
    private static func accept(_ key: String) -> String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        var encoded = [UInt8](repeating: 0, count: 29)
        guard EVP_Q_digest(nil, "SHA1", nil, text, text.count, &digest, nil) == 1 else { return "" }
        let count = EVP_EncodeBlock(&encoded, digest, CInt(digest.count))
        return String(decoding: encoded.prefix(Int(count)), as: UTF8.self)
    }
}
