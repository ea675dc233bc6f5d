// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdTLS
import Glibc

/// Both sides of TLS over a socket pair, moved by hand.
final class WirePair {
    let server: any Wire
    let client: any Wire

    /// - Parameter client: nil speaks no TLS.
    init?(_ security: ServerTLS, _ client: ClientContext?) {
        signal(SIGPIPE, SIG_IGN)  // as bearerd does
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0,
            let server = security.wire(on: ends[0]),
            let other = client.map({ $0.wire(on: ends[1]) }) ?? SocketWire(descriptor: ends[1])
        else { return nil }
        (self.server, self.client) = (server, other)
    }

    private var isCut = false

    /// The server goes without a word.
    func cut() {
        isCut = true
        server.close()
    }

    deinit {
        if !isCut { server.close() }
        client.close()
    }

    /// Shakes hands, each side in turn, and returns both results.
    func shakeHands() -> (server: WireResult, client: WireResult) {
        var results = (server: WireResult.wouldBlockOnRead, client: WireResult.wouldBlockOnRead)
        for _ in 0..<8 {
            if case .wouldBlockOnRead = results.client { results.client = client.handshake() }
            if case .wouldBlockOnRead = results.server { results.server = server.handshake() }
        }
        return results
    }
}

extension Wire {
    func say(_ text: String) -> WireResult { Array(text.utf8).withUnsafeBytes { send($0) } }

    /// The text that has arrived, or what came instead.
    func hear() -> (text: String, result: WireResult) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let result = bytes.withUnsafeMutableBytes { receive(into: $0) }
        guard case .moved(let count) = result else { return ("", result) }
        return (String(decoding: bytes.prefix(count), as: UTF8.self), result)
    }
}

extension WireResult {
    /// The name of the result.
    var word: String {
        switch self {
        case .moved: "moved"
        case .wouldBlockOnRead: "wouldBlockOnRead"
        case .wouldBlockOnWrite: "wouldBlockOnWrite"
        case .end: "end"
        case .truncated: "truncated"
        case .failed(let error): "\(error)"
        }
    }
}
