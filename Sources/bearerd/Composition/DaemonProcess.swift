// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPClient
import BearerdObservability
import BearerdSystem
import BearerdTokenStore
import Glibc

/// A file that a configuration was read from, and its state before that (``WatchedFiles/state(beforeReading:)``).
struct ReadFile {
    let path: String
    let before: FileState
}

/// The process around a ``Daemon``: the main thread's loop, signals, the log, and the exit status.
enum DaemonProcess {
    /// Serves `configuration` until a signal ends it; blocks the main thread, which becomes the control loop.
    ///
    /// - Parameters:
    ///   - source: where the configuration was read; nil if it is in no file.
    ///   - warnings: about the configuration, a line each; they go to the log.
    ///   - named: what a person gave in place of a key of the configuration, for errors.
    ///   - whenBound: is told the sockets before anybody is served.
    /// - Throws: ``CommandFailure`` when it cannot begin.
    static func serve(
        _ configuration: Configuration, from source: ReadFile? = nil, warnings: [String] = [],
        named: (String) -> String = { $0 },
        whenBound: (DaemonSockets) throws(CommandFailure) -> Void = { _ in }
    ) throws(CommandFailure) -> ExitStatus {
        CurrentProcess.ignoreBrokenPipes()
        holdSignals()
        let prepared = try prepare(configuration, file: source?.path, named: named, whenBound: whenBound)
        let log = Log(
            level: configuration.log.level, format: configuration.log.effectiveFormat, sink: prepared.writer)
        log.callOut(warnings)
        forbidDumps(log)
        raiseDescriptorLimit(log)
        prepared.sandbox.tell(log)
        defer { prepared.writer.flush() }
        let (daemon, loop, signals) = try start(prepared, from: source, log)
        tellOfTrouble(log)
        heldSignals.forEach { SignalSource.hold($0, false) }
        let exitStatus = run(daemon, on: loop, log)
        withExtendedLifetime(signals) {}
        return exitStatus
    }

    /// All that must be there before the sandbox, and before the first thread.
    private struct Prepared {
        let configuration: Configuration
        let keyringKey: Secret?
        let commands: CommandHelper?
        let sockets: DaemonSockets
        let notifications: NotificationSocket?
        let sandbox: SandboxOutcome
        let writer: OutputWriter
    }

    /// Does what can be done in this order alone.
    private static func prepare(
        _ configuration: Configuration, file: String?, named: (String) -> String,
        whenBound: (DaemonSockets) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> Prepared {
        var configuration = configuration
        // Before the sandbox, where nobody could be asked.
        let keyringKey = try configuration.storeKey()
        do {
            // Before anything is open that its programs could get, and before a sandbox that they would be in.
            let commands = try configuration.commandHelper()
            try HTTPClientLibrary.initialize()
            let sockets = try DaemonSockets(configuration, named: named)
            try whenBound(sockets)
            if file == nil {
                configuration.pageInPlaceOfCommands = sockets.admin.map { "http://\($0.address)/" }
            }
            let notifications = try NotificationSocket()
            // Before the first thread, which would stay free.
            let sandbox = try SandboxOutcome(of: configuration, file: file)
            return Prepared(
                configuration: configuration, keyringKey: keyringKey, commands: commands, sockets: sockets,
                notifications: notifications, sandbox: sandbox, writer: try OutputWriter())
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Makes the control loop, the daemon on it, and the ears for signals.
    private static func start(
        _ prepared: Prepared, from source: ReadFile?, _ log: Log
    ) throws(CommandFailure) -> (Daemon, EventLoop, [SignalSource]) {
        let writer = prepared.writer
        do {
            // Until there is a log to write it to, what fails is told by us alone.
            EventLoop.hearMessages { _ in }
            let loop = try EventLoop(name: "control")
            loop.takeStrayJobs()
            let daemon = try Daemon(
                configuration: prepared.configuration, keyringKey: prepared.keyringKey,
                commands: prepared.commands, sockets: prepared.sockets, loop: loop, log: log, writer: writer,
                manager: ServiceManager(prepared.notifications, log: log), file: source?.path,
                before: source?.before, sandbox: prepared.sandbox)
            let signals = try [
                SignalSource(SIGTERM, loop: loop) { stop(daemon, writer) },
                SignalSource(SIGINT, loop: loop) { stop(daemon, writer) },
                SignalSource(SIGHUP, loop: loop) {
                    Task(executorPreference: loop) { try? await daemon.reload() }
                },
            ]
            return (daemon, loop, signals)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Has the log say what event loops and listeners are in trouble with.
    private static func tellOfTrouble(_ log: Log) {
        let throttle = LineThrottle()
        EventLoop.hearMessages { text in
            guard let leftOut = throttle.pass() else { return }
            log.warning("an event loop has trouble", [.reason: .string(text), .leftOut: .integer(leftOut)])
        }
        let acceptReport = AcceptReport(log)
        Listener.hear { address, news in acceptReport.heard(news, at: address) }
    }

    /// Runs the control loop until the daemon has ended.
    private static func run(_ daemon: Daemon, on loop: EventLoop, _ log: Log) -> ExitStatus {
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
        return exitStatus.status
    }

    /// The signals that would do harm, or be lost, before somebody hears them: SIGHUP ends a process, and process 1 gets none
    /// that it does not handle.
    private static var heldSignals: [Int32] {
        CurrentProcess.identifier == 1 ? [SIGHUP, SIGTERM, SIGINT] : [SIGHUP]
    }

    /// Keeps those signals until the daemon hears them.
    static func holdSignals() { heldSignals.forEach { SignalSource.hold($0, true) } }

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
