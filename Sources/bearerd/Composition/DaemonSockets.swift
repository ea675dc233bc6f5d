// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdEventLoop
import BearerdHTTPMessages
import BearerdProxy
import BearerdRouting
import BearerdSystem
import Synchronization

/// The sockets and the audit file of a daemon, opened before it gives up the right to open others.
struct DaemonSockets: Sendable {
    let workerCount: Int
    /// The data listeners, in the configuration's order.
    var data: [(key: ListenerKey, listener: BoundListener)]
    let admin: BoundListener?
    let developmentProvider: BoundListener?
    let developmentAPI: BoundListener?
    let audit: FirstAuditFile

    /// The number of sockets of small services.
    var serviceCount: Int { [admin, developmentProvider, developmentAPI].compactMap(\.self).count }

    /// Binds the sockets without serving anybody.
    ///
    /// Passed sockets come first, while no socket of our own can have their numbers.
    ///
    /// - Parameter named: what a person gave in place of a key of the configuration, for errors.
    init(
        _ configuration: Configuration, named: (String) -> String = { $0 }
    ) throws(CommandFailure) {
        let count = configuration.workers ?? CurrentProcess.coreCount
        workerCount = count
        let passed = PassedSockets()
        passed.closeOnExec()
        var data: [BoundListener?] = []
        for address in configuration.listen {
            guard address.isPassed else {
                data.append(nil)
                continue
            }
            let listener = try BoundListener(address, workers: count, passed: passed)
            try listener.checkStrangers(of: address, configuration)
            data.append(listener)
        }
        var admin: BoundListener?
        if let address = configuration.admin?.listen, address.isPassed {
            admin = try BoundListener(address, workers: 1, passed: passed)
        }
        try Self.checkNumbers(data.compactMap(\.self) + [admin].compactMap(\.self))
        for (index, address) in configuration.listen.enumerated() where data[index] == nil {
            let key = configuration.listen.count > 1 ? "listen[\(index)]" : "listen"
            data[index] = try BoundListener(address, workers: count, isForAll: true, key: named(key))
        }
        self.data = zip(ListenerKey.keys(of: configuration.listen), data.compactMap(\.self)).map { ($0, $1) }
        if admin == nil {
            admin = try BoundListener(configuration.admin?.listen, isForAll: true, key: "admin.listen")
        }
        self.admin = admin
        developmentProvider = try BoundListener(
            configuration.development.provider, key: "development.provider")
        developmentAPI = try BoundListener(configuration.development.api, key: "development.api")
        guard let file = configuration.audit?.file else {
            audit = FirstAuditFile(nil)
            return
        }
        do throws(OpenedFile.Refusal) {
            audit = FirstAuditFile(try OpenedFile(appendingTo: file))
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Refuses a passed socket that two listeners use, under whatever names.
    private static func checkNumbers(_ passed: [BoundListener]) throws(CommandFailure) {
        var taken: Set<Int32> = []
        for listener in passed {
            for socket in listener.shares.first ?? [] where !taken.insert(socket.descriptor).inserted {
                throw CommandFailure(
                    .configuration, "the socket at \(listener.address) that was passed is listened on twice")
            }
        }
    }
}

/// The audit's file from the start, until somebody takes it: whoever has these sockets then keeps no file open that a
/// reload takes away.
final class FirstAuditFile: Sendable {
    private let file: Mutex<OpenedFile?>

    init(_ file: OpenedFile?) { self.file = Mutex(file) }

    /// - Returns: nil without an audit, and from the second time on.
    func take() -> OpenedFile? {
        file.withLock { file in
            defer { file = nil }
            return file
        }
    }
}

extension BoundListener {
    /// Binds an address for one loop; nil without an address.
    fileprivate init?(
        _ address: ListenAddress?, isForAll: Bool = false, key: String
    ) throws(CommandFailure) {
        guard let address else { return nil }
        self = try BoundListener(address, workers: 1, isForAll: isForAll, key: key)
    }

    /// Checks the address of a passed socket, which `check` cannot know.
    func checkStrangers(
        of configured: ListenAddress, _ configuration: Configuration
    ) throws(CommandFailure) {
        for route in configuration.routes
        where address.isReached(by: route.upstream, at: route.transport.connectTo) {
            throw CommandFailure(
                .configuration,
                "\(configured) listens on \(address), which is the upstream of the route \(route.key.path): "
                    + "requests would go round in circles")
        }
        if case .tcp = address,
            let route = configuration.routes.first(where: { route in
                route.key.user != nil && (route.key.listen ?? configured) == configured
            })
        {
            throw CommandFailure(
                .configuration,
                "\(configured) listens on \(address): routes[\(route.position)].identity.uid needs a Unix socket, where a caller's uid is known"
            )
        }
        guard !address.isLoopback, configuration.tls == nil, !configuration.allowsUnsafeListen else { return }
        throw CommandFailure(
            .configuration,
            "\(configured) listens on \(address): plain HTTP off loopback needs unsafe_listen: true")
    }
}
