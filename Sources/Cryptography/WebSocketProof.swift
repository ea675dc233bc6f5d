// SPDX-License-Identifier: Apache-2.0

internal import CBearerdOpenSSL

/// The proof that a server has understood a WebSocket's key (RFC 6455 §4.2.2).
package enum WebSocketProof {
    /// The value of `Sec-WebSocket-Accept` for that of `Sec-WebSocket-Key`.
    package static func accept(_ key: String) -> String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        var encoded = [UInt8](repeating: 0, count: 29)
        guard EVP_Q_digest(nil, "SHA1", nil, text, text.count, &digest, nil) == 1 else { return "" }
        let count = EVP_EncodeBlock(&encoded, digest, CInt(digest.count))
        return String(decoding: encoded.prefix(Int(count)), as: UTF8.self)
    }
}
