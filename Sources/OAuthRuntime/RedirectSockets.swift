// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTPMessages
package import OAuth

/// The sockets on which a redirect is awaited.
package struct RedirectSockets: Sendable {
    /// The number of ports to try if two addresses need the same free one.
    private static let attempts = 8

    package let all: [ListeningSocket]
    /// The bound port, which is part of a redirect URI with port 0.
    package let port: UInt16
    /// True if only this machine can reach them, so that the kernel knows who connects.
    let areLoopback: Bool

    /// Binds `address`, or the redirect URI's; `localhost` means both families if both exist: browsers try either.
    package init(for uri: RedirectURI, listen address: ListenAddress?) throws(LoopbackLogin.Failure) {
        if case .tcp(let host, let port)? = address {
            self = try Self(hosts: [host], port: port)
        } else if uri.host == "localhost" {
            self = try Self(hosts: ["127.0.0.1", "::1"], port: uri.port)
        } else {
            self = try Self(hosts: [uri.host], port: uri.port)
        }
    }

    /// The first host must be bound, the others only if this machine has them.
    private init(hosts: [String], port: UInt16) throws(LoopbackLogin.Failure) {
        var failure = Failure(host: "", error: .unusableAddress)
        for _ in 0..<(port == 0 ? Self.attempts : 1) {
            do throws(Failure) {
                try self.init(binding: hosts, port: port)
                return
            } catch {
                failure = error
                guard error.error.isInUse else { break }
            }
        }
        let place = "\(ListenAddress.tcp(host: failure.host, port: port))"
        throw .address("cannot listen on \(place) for the redirect: \(failure.error.reason)")
    }

    /// The first address that could not be bound, of several.
    private struct Failure: Error {
        let host: String
        let error: ListeningSocket.BindError
    }

    private init(binding hosts: [String], port: UInt16) throws(Failure) {
        var sockets: [ListeningSocket] = []
        var port = port
        for host in hosts {
            do throws(ListeningSocket.BindError) {
                sockets += try ListeningSocket.tcp(host: host, port: port, joining: false)
                port = sockets.first?.address?.port ?? port
            } catch {
                guard sockets.isEmpty || error.isInUse else { continue }
                sockets.forEach { $0.close() }
                throw Failure(host: host, error: error)
            }
        }
        all = sockets
        self.port = port
        areLoopback = hosts.allSatisfy { IPAddress.isLoopback(host: $0) }
    }

    package func close() { all.forEach { $0.close() } }
}
