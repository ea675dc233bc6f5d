// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdEventLoop
import BearerdHTTPClient
import BearerdObservability
import BearerdSystem
import BearerdTokenStore
import Glibc

/// The process around a ``Daemon``: the main thread's loop, signals, the log, and the exit status.
enum DaemonProcess {
    /// Serves `configuration` until a signal ends it; blocks the main thread, which becomes the control loop.
    ///
    /// - Parameters:
    ///   - file: where the configuration is; nil if it is in no file.
    ///   - before: the state of `file` before it was read (``WatchedFiles/state(beforeReading:)``).
    ///   - warnings: about the configuration, a line each; they go to the log.
    ///   - named: what a person gave in place of a key of the configuration, for errors.
    ///   - whenBound: is told the sockets before anybody is served.
    /// - Throws: ``CommandFailure`` when it cannot begin.
    static func serve(
        _ configuration: Configuration, file: String? = nil, before: FileState? = nil,
        warnings: [String] = [],
        named: (String) -> String = { $0 },
        whenBound: (DaemonSockets) throws(CommandFailure) -> Void = { _ in }
    ) throws(CommandFailure) -> ExitStatus {
        CurrentProcess.ignoreBrokenPipes()
        var configuration = configuration
        SignalSource.hold(SIGHUP, true)
        // Before the sandbox, where nobody could be asked.
        let keyringKey = try configuration.storeKey()
        let commands: CommandHelper?
        let sockets: DaemonSockets
        let sandboxOutcome: SandboxOutcome
        let writer: OutputWriter
        let notifications: NotificationSocket?
        do {
            // Before anything is open that its programs could get, and before a sandbox that they would be in.
            commands = try configuration.commandHelper()
            try HTTPClientLibrary.initialize()
            sockets = try DaemonSockets(configuration, named: named)
            try whenBound(sockets)
            if file == nil {
                configuration.pageInPlaceOfCommands = sockets.admin.map { "http://\($0.address)/" }
            }
            notifications = try NotificationSocket()
            // Before the first thread, which would stay free.
            sandboxOutcome = try SandboxOutcome(of: configuration, file: file)
            writer = try OutputWriter()
        } catch {
            throw CommandFailure(error)
        }
        let log = Log(
            level: configuration.log.level, format: configuration.log.effectiveFormat, sink: writer)
        log.callOut(warnings)
        forbidDumps(log)
        raiseDescriptorLimit(log)
        sandboxOutcome.tell(log)
        defer { writer.flush() }

        let loop: EventLoop
        let daemon: Daemon
        let signals: [SignalSource]
        do {
            // Until there is a log to write it to, what fails is told by us alone.
            EventLoop.hearMessages { _ in }
            loop = try EventLoop(name: "control")
            loop.takeStrayJobs()
            daemon = try Daemon(
                configuration: configuration, keyringKey: keyringKey, commands: commands, sockets: sockets,
                loop: loop, log: log,
                writer: writer,
                manager: ServiceManager(notifications, log: log), file: file, before: before,
                sandbox: sandboxOutcome)
            signals = try [
                SignalSource(SIGTERM, loop: loop) { stop(daemon, writer) },
                SignalSource(SIGINT, loop: loop) { stop(daemon, writer) },
                SignalSource(SIGHUP, loop: loop) {
                    Task(executorPreference: loop) { try? await daemon.reload() }
                },
            ]
        } catch {
            throw CommandFailure(error)
        }
        let throttle = LineThrottle()
        EventLoop.hearMessages { text in
            guard let leftOut = throttle.pass() else { return }
            log.warning("an event loop has trouble", [.reason: .string(text), .leftOut: .integer(leftOut)])
        }
        let acceptReport = AcceptReport(log)
        Listener.hear { address, news in acceptReport.heard(news, at: address) }
        SignalSource.hold(SIGHUP, false)
        let exitStatus = DecidedExitStatus()
        Task(executorPreference: loop) {
            do {
                exitStatus.set(try await daemon.run() == .drained ? .success : .failure)
            } catch {
                let failure = CommandFailure(error)
                exitStatus.set(failure.status == .systemRefuses ? failure.status : .unavailable)
                log.error("cannot start", [.reason: .string(failure.message)])
            }
            loop.stop()
        }
        loop.run()
        withExtendedLifetime(signals) {}
        return exitStatus.status
    }

    /// Drains on the first signal, and ends the process on the second.
    private static func stop(_ daemon: Daemon, _ writer: OutputWriter) {
        daemon.assumeIsolated { daemon in
            guard daemon.isDraining else { return daemon.shutDown() }
            daemon.tellOfLosses()
            writer.flush()
            exit(ExitStatus.failure.rawValue)
        }
    }

    /// Raises the soft limit of descriptors, which is 1024 on many systems, to the hard one.
    private static func raiseDescriptorLimit(_ log: Log) {
        do {
            try CurrentProcess.raiseDescriptorLimit()
        } catch {
            log.warning("the limit of open descriptors stays as it is", [.reason: .string(error.description)])
        }
    }

    private static func forbidDumps(_ log: Log) {
        do {
            try CurrentProcess.forbidDumps()
        } catch {
            log.warning(
                "a core dump of this process would hold tokens", [.reason: .string(error.description)])
        }
    }
}

extension Log {
    /// Writes what a configuration in force warns of.
    func callOut(_ warnings: [String]) {
        for reason in warnings { warning("look at the configuration", [.reason: .string(reason)]) }
    }
}
