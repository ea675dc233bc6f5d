// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// The key that an HTTP/1.1 server of WebSockets wants (RFC 6455 §11.3.1), which HTTP/2 has no need for.
struct WebSocketKey {
    /// 16 bytes in base64.
    let text: String

    init() {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var characters = (0..<21).map { _ in alphabet[Int.random(in: 0..<64, using: &generator)] }
        // Only two bits of the last character are of the key.
        characters.append(alphabet[Int.random(in: 0..<4, using: &generator) << 4])
        text = String(decoding: characters, as: UTF8.self) + "=="
    }
}

extension HTTPRequest {
    /// Says an extended CONNECT (RFC 8441) in the words of HTTP/1.1, as a request that offers an upgrade.
    ///
    /// - Returns: the key that goes with it.
    mutating func offerUpgrade(to name: String) -> WebSocketKey {
        let key = WebSocketKey()
        method = .get
        fields[.connection] = "Upgrade"
        fields[.upgrade] = name
        if name.lowercased() == "websocket" { fields[.secWebSocketKey] = key.text }
        return key
    }
}
