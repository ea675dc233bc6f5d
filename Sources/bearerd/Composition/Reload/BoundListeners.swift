// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPMessages
import BearerdSystem
import Glibc

/// The sockets of one configured listener: one set per worker for TCP, a shared one for a Unix or passed
/// socket.
struct BoundListener: Sendable {
    /// The sockets for each worker.
    let shares: [[ListeningSocket]]
    /// The address for clients: the configured one with the port that the kernel chose; a passed socket's
    /// own.
    let address: ListenAddress
    /// True if another process bound the socket, so that clients may use another port.
    let isPassed: Bool
    /// The fingerprint of a Unix socket's file when it was bound.
    private let file: FileFingerprint?

    /// Binds an address.
    ///
    /// - Parameters:
    ///   - isForAll: whether every user may connect to a Unix socket, and is then judged.
    ///   - passed: the sockets that the process was started with; nil where none is looked for.
    ///   - key: the key that names the address, for the error; nil where the caller tells it.
    /// - Throws: why it could not be had: the system refuses where no descriptor is left.
    init(
        _ address: ListenAddress, workers: Int, isForAll: Bool = false, passed: PassedSockets? = nil,
        key: String? = nil
    ) throws(CommandFailure) {
        do {
            switch address {
            case .tcp(let host, let port):
                let first = try ListeningSocket.tcp(host: host, port: port, joining: false)
                let boundPort = first.first?.address?.port ?? port
                var sockets = [first]
                do {
                    for _ in 1..<max(workers, 1) {
                        sockets.append(try ListeningSocket.tcp(host: host, port: boundPort, joining: true))
                    }
                } catch {
                    // Left open, it would take connections that nobody accepts, and keep the port from the next reload.
                    for socket in sockets.joined() { socket.close() }
                    throw error
                }
                shares = sockets
                self.address = .tcp(host: host, port: boundPort)
                isPassed = false
                file = nil
            case .unix(let path):
                let socket = try ListeningSocket.unix(path: path, isForAll: isForAll)
                shares = Array(repeating: [socket], count: max(workers, 1))
                self.address = address
                isPassed = false
                file = Self.fingerprint(of: path)
            case .systemd(let name):
                let descriptors = passed?.descriptors(named: name) ?? []
                guard !descriptors.isEmpty else {
                    throw CommandFailure(missing: address, passed?.entries ?? [])
                }
                self = try BoundListener(adopting: descriptors, as: address, workers: workers)
            case .descriptor(let number):
                self = try BoundListener(adopting: [number], as: address, workers: workers)
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(error, listeningOn: address, key: key)
        }
    }

    /// Takes over passed sockets; several of one name are one listener.
    private init(
        adopting descriptors: [Int32], as configured: ListenAddress, workers: Int
    ) throws {
        let adopted = try descriptors.map { try ListeningSocket.passed($0) }
        shares = Array(repeating: adopted.map(\.socket), count: max(workers, 1))
        // One that others can reach counts most, for what is allowed and what is warned of.
        let addresses = adopted.map { ListenAddress($0.address, as: configured) }
        address = addresses.first { !$0.isLoopback } ?? addresses.first ?? configured
        isPassed = true
        file = nil
    }

    /// Removes a Unix socket's file, if it is still ours.
    ///
    /// Call it before ``close()``: while somebody listens, no other bearerd takes over the name.
    func removeFile() {
        guard case .unix(let path) = address, let file, file == Self.fingerprint(of: path) else { return }
        try? FileSystem.remove(FilePlace(path))
    }

    /// False if the name of a Unix socket is gone, or leads to something else: then nobody can connect any more.
    var hasItsName: Bool {
        guard case .unix(let path) = address, let file else { return true }
        do throws(SystemError) {
            let found = try FileSystem.status(of: path, followingLink: false)
            return found?.fingerprint.isSameFile(as: file) ?? false
        } catch {
            return true
        }
    }

    private static func fingerprint(of path: String) -> FileFingerprint? {
        let status = try? FileSystem.status(of: path, followingLink: false)
        return status?.kind == .socket ? status?.fingerprint : nil
    }

    /// Closes every socket, once each.
    func close() {
        var closed: Set<Int32> = []
        for socket in shares.joined() where closed.insert(socket.descriptor).inserted { socket.close() }
    }
}

extension ListenAddress {
    /// The address of a passed socket; one without a path keeps its configured name.
    fileprivate init(_ address: ListeningSocket.PassedAddress, as configured: ListenAddress) {
        switch address {
        case .tcp(let host, let port): self = .tcp(host: host, port: port)
        case .unix(let path): self = path.map { .unix(path: $0) } ?? configured
        }
    }
}

extension CommandFailure {
    /// The failure for a socket that was not passed.
    fileprivate init(missing address: ListenAddress, _ passed: [PassedSockets.Entry]) {
        let names = Set(passed.map(\.name)).sorted().joined(separator: ", ")
        self.init(
            .unavailable,
            "cannot listen on \(address): no socket of that name was passed; "
                + (names.isEmpty
                    ? "start bearerd by a .socket unit, whose FileDescriptorName= is the name"
                    : "those that were: \(names); FileDescriptorName= of the .socket unit is the name"))
    }

    /// The failure to watch a bound socket.
    init(_ error: StreamError, watching address: ListenAddress) {
        self.init(.systemRefuses, "cannot watch \(address): \(error.reason); raise \(error.limit)")
    }

    fileprivate init(_ error: any Error, listeningOn address: ListenAddress, key: String?) {
        let place = "cannot listen on \(address)" + (key.map { " (\($0))" } ?? "")
        switch error as? ListeningSocket.BindError {
        case .failed(let code, let reason)?:
            self.init(
                SystemError.isShortage(code) ? .systemRefuses : .unavailable,
                "\(place): \(reason)\(Self.advice(on: code, address, key ?? "it"))")
            isDenied = SystemError(.socket, code: code).isPermission
        case .notListening?, .unansweredName?:
            self.init(.unavailable, "\(place): \((error as? ListeningSocket.BindError)?.reason ?? "")")
        case .unusableAddress?, nil:
            self.init(.unavailable, "\(place): no such address")
        }
    }

    /// The remedy for an address that could not be bound, with the process that holds it if known.
    private static func advice(on code: CInt, _ address: ListenAddress, _ key: String) -> String {
        switch (code, address) {
        case (EADDRINUSE, .tcp(let host, let port)):
            guard let holder = PortHolder.of(host: host, port: port) else {
                return "; 'ss -ltnp' tells root by whom: stop that, or give \(key) another port"
            }
            guard holder.process != CurrentProcess.identifier else {
                return " by this process itself: give \(key) another port, or restart it"
            }
            // Without a file, where the key is an option, there is nothing by which a command could ask.
            let hint =
                holder.command == "bearerd" && !key.hasPrefix("--") ? " ('bearerd status' tells of it)" : ""
            return " by \(holder.words)\(hint): stop it, or give \(key) another port"
        case (EADDRINUSE, .unix(let path)):
            if let status = try? FileSystem.status(of: path, followingLink: false), status.kind != .socket {
                return ": a file is there that is no socket; remove it, or give \(key) another path"
            }
            let holder = PortHolder.of(path: path)?.words ?? "another process"
            return ": \(holder) listens there; stop it, or give \(key) another path"
        case (EACCES, .tcp(_, let port)) where port < 1024:
            return
                ": ports below 1024 need CAP_NET_BIND_SERVICE (AmbientCapabilities= of a unit), or give \(key) another one"
        case (EACCES, .unix(let path)):
            return ": who runs bearerd may not write into the directory of \(path)"
        case (EADDRNOTAVAIL, .tcp):
            return ": no interface of this machine has it; ip address shows what there is"
        case (EMFILE, _): return "; raise the limit of descriptors (LimitNOFILE=)"
        case (ENFILE, _): return "; raise fs.file-max"
        default: return ""
        }
    }
}
