// SPDX-License-Identifier: Apache-2.0

/// A relay to one server that keeps each client's first words until it may pass them on: the connection stands, and TLS over it
/// waits.
package final class HoldingRelay: Sendable {
    private let server: RawServer
    /// Open once a client's first words are there.
    package let isGreeted: Gate
    /// Lets the words through.
    package let mayPass: Gate
    /// Open once a client was sent what the server has said first.
    package let isAnswered: Gate

    package init(to target: Address) throws {
        let (isGreeted, mayPass, isAnswered) = (Gate(), Gate(), Gate())
        (self.isGreeted, self.mayPass, self.isAnswered) = (isGreeted, mayPass, isAnswered)
        server = try RawServer { client in
            let words = try client.readSome()
            isGreeted.open()
            try mayPass.pass()
            let upstream = try Wire(to: target)
            try upstream.send(words)
            startThread {
                while let bytes = try? client.readSome(), !bytes.isEmpty { try? upstream.send(bytes) }
                upstream.close()
            }
            while case let bytes = try upstream.readSome(), !bytes.isEmpty {
                try client.send(bytes)
                isAnswered.open()
            }
        }
    }

    /// The port at which it listens.
    package var port: UInt16 { server.address.port }
}
