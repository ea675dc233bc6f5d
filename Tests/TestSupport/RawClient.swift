// SPDX-License-Identifier: Apache-2.0

/// A client of one connection that says exactly what it is told to.
package struct RawClient: Sendable {
    /// The connection, for tests that need its bytes.
    package let wire: Wire
    private let authority: String

    /// Connects, with `receiveBuffer` bytes of kernel buffer if given.
    package init(to address: Address, receiveBuffer: Int32? = nil) throws {
        wire = try Wire(to: address, receiveBuffer: receiveBuffer)
        switch address {
        case .tcp: authority = "\(address)"
        case .unix: authority = "localhost"
        }
    }

    /// Connects and agrees on keys.
    package init(to address: Address, over tls: TLSClient, receiveBuffer: Int32? = nil) throws {
        wire = Wire(try tls.connect(to: address, receiveBuffer: receiveBuffer))
        authority = "localhost:\(address.port)"
    }

    /// Sends a request with the usual fields and reads its answer.
    ///
    /// `Host` is the listener's address unless given, and a body gets its `Content-Length`.
    package func request(
        _ method: String, _ target: String, _ fields: [(String, String)] = [], body: String? = nil
    ) throws -> RawResponse {
        try send(method, target, fields, body: body)
        return try wire.readResponse(to: method)
    }

    /// Sends a request with the usual fields.
    package func send(
        _ method: String, _ target: String, _ fields: [(String, String)] = [], body: String? = nil
    ) throws {
        var text = "\(method) \(target) HTTP/1.1\r\n"
        if !fields.contains(where: { $0.0.lowercased() == "host" }) { text += "Host: \(authority)\r\n" }
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        if let body { text += "Content-Length: \(body.utf8.count)\r\n" }
        try wire.send(text + "\r\n" + (body ?? ""))
    }

    /// Sends exactly this text and reads the answer.
    package func exchange(_ text: String, method: String = "GET") throws -> RawResponse {
        try wire.send(text)
        return try wire.readResponse(to: method)
    }
}
