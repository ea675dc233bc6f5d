// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdHTTPMessages

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
        if let key { response.fields[.secWebSocketAccept] = WebSocketProof.accept(key) }
    }
}
