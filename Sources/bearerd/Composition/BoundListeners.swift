// SPDX-License-Identifier: Apache-2.0

import EventLoop
import HTTPMessages
import System

/// The sockets of one configured listener: for TCP one set for each worker, else one that all of them watch.
struct BoundListener: Sendable {
    /// By worker.
    let sockets: [[ListeningSocket]]
    /// Where clients reach it: the address as configured, with the port that the kernel chose.
    let address: ListenAddress
    /// What the name of a Unix socket stood for when it was bound.
    private let file: FileFingerprint?

    /// Binds an address.
    ///
    /// - Parameter isForAll: whether every user may connect to a Unix socket, and is then judged.
    /// - Throws: why it could not be had: the system refuses where no descriptor is left.
    init(_ address: ListenAddress, workers: Int, isForAll: Bool = false) throws(CommandFailure) {
        do {
            switch address {
            case .tcp(let host, let port):
                let first = try ListeningSocket.tcp(host: host, port: port, joining: false)
                let boundPort = first.first?.address?.port ?? port
                var sockets = [first]
                for _ in 1..<max(workers, 1) {
                    sockets.append(try ListeningSocket.tcp(host: host, port: boundPort, joining: true))
                }
                self.sockets = sockets
                self.address = .tcp(host: host, port: boundPort)
                file = nil
            case .unix(let path):
                let socket = try ListeningSocket.unix(path: path, isForAll: isForAll)
                sockets = Array(repeating: [socket], count: max(workers, 1))
                self.address = address
                file = Self.fingerprint(of: path)
            case .systemd, .descriptor:
                throw ListeningSocket.BindError.unusableAddress
            }
        } catch {
            throw CommandFailure(error, listeningOn: address)
        }
    }

    /// Takes the name of a Unix socket away, if it is still ours.
    ///
    /// Call it before ``close()``: while somebody listens there, no other bearerd takes the name over.
    func removeFile() {
        guard case .unix(let path) = address, let file, file == Self.fingerprint(of: path) else { return }
        try? FileSystem.remove(FilePlace(path))
    }

    private static func fingerprint(of path: String) -> FileFingerprint? {
        let status = try? FileSystem.status(of: path, followingLink: false)
        return status?.kind == .socket ? status?.fingerprint : nil
    }

    /// Closes every socket, once each.
    func close() {
        var closed: Set<Int32> = []
        for socket in sockets.joined() where closed.insert(socket.descriptor).inserted { socket.close() }
    }
}

extension CommandFailure {
    /// Why a socket that is bound cannot be watched.
    init(_ error: StreamError, watching address: ListenAddress) {
        self.init(.systemRefuses, "cannot watch \(address): \(error.reason); raise \(error.limit)")
    }

    fileprivate init(_ error: any Error, listeningOn address: ListenAddress) {
        switch error as? ListeningSocket.BindError {
        case .failed(let code, let reason)?:
            self.init(
                SystemError.isShortage(code) ? .systemRefuses : .unavailable,
                "cannot listen on \(address): \(reason)")
        case .unusableAddress?, nil:
            self.init(.unavailable, "cannot listen on \(address): no such address")
        }
    }
}
