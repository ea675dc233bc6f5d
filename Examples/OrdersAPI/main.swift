// SPDX-License-Identifier: Apache-2.0
//
// A resource server: it answers whoever shows an access token of the issuer for its audience, and tells everybody else
// why not, as RFC 6750 and RFC 9449 want it told. One connection at a time, one request a connection: the tokens are
// the example, not the server.
//
//     bearerd run -c config.yaml &          # the development provider and API of the repository's root
//     swift run --package-path Examples OrdersAPI http://127.0.0.1:8081 urn:bearerd:sample-api

import Foundation
import OAuthRuntime
import Program

/// A listening socket on a free port of loopback.
struct Listener {
    let descriptor: Int32
    let port: UInt16

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
    }

    /// The head of the next request, and where its answer goes; nil for a client that sends none.
    func next() -> (head: String, connection: FileHandle)? {
        let descriptor = accept(descriptor, nil, nil)
        guard descriptor >= 0 else { return nil }
        let connection = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var head = Data()
        while head.count < 64 * 1024 {
            let piece = connection.availableData
            guard !piece.isEmpty else { return nil }
            head += piece
            if let end = head.range(of: Data("\r\n\r\n".utf8)) {
                return (String(decoding: head[..<end.lowerBound], as: UTF8.self), connection)
            }
        }
        return nil
    }
}

/// The request that a head makes; nil for anything but an origin-form target.
func resourceRequest(_ head: String, at origin: String) -> ResourceRequest? {
    let lines = head.components(separatedBy: "\r\n")
    let words = (lines.first ?? "").split(separator: " ").map(String.init)
    guard words.count == 3, words[1].hasPrefix("/") else { return nil }
    func values(_ name: String) -> [String] {
        lines.dropFirst().compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            guard parts.count == 2, parts[0].lowercased() == name else { return nil }
            return parts[1].trimmingCharacters(in: .whitespaces)
        }
    }
    var request = ResourceRequest(
        method: words[0], url: origin + words[1], authorization: values("authorization"))
    request.proofs = values("dpop")
    return request
}

/// The answer to a request, judged by its access token.
func answer(to request: ResourceRequest, by verifier: AccessTokenVerifier) async -> String {
    do {
        let token = try await verifier.verify(request)
        let body = "hello, \(token.subject ?? "nobody")\n"
        return "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    } catch {
        say("refused: \(error)")
        let challenge = error.challenge(realm: "orders").map { "WWW-Authenticate: \($0)\r\n" } ?? ""
        return "HTTP/1.1 \(error.status) Refused\r\n\(challenge)Content-Length: 0\r\nConnection: close\r\n\r\n"
    }
}

await run("OrdersAPI", "ISSUER", "AUDIENCE") { words in
    let runtime = try AuthRuntime(storage: .memory)
    let verifier = try runtime.verifier(for: AccessTokenRules(issuer: words[0], audience: words[1]))
    let listener = try Listener()
    let origin = "http://127.0.0.1:\(listener.port)"
    say("serving \(origin)")
    while true {
        guard let (head, connection) = listener.next() else { continue }
        guard let request = resourceRequest(head, at: origin) else { continue }
        let text = await answer(to: request, by: verifier)
        try? connection.write(contentsOf: Data(text.utf8))
    }
}
