// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdObservability
import BearerdSystem
import OAuth
import Synchronization

/// Runs the commands of `on_state_change` on threads of their own.
///
/// The runs of one identity keep their order. A command that hangs is killed, and the queue behind it is
/// bounded.
final class StateChangeHooks: Sendable {
    private static let hookLimit = Duration.seconds(30)
    /// The most commands that run at a time.
    private static let threadCount = 4
    /// The most commands that wait for one thread.
    private static let longestQueue = 64
    /// The environment variables that commands get; none of them usually holds a secret.
    private static let passedOn = ["PATH", "HOME", "USER", "LANG", "TZ"]

    private struct Worker {
        var thread: ThreadExecutor?
        var waiting = 0
    }

    /// The command of each identity, with the number of the thread that runs it.
    private let commands: [String: (command: [String], worker: Int)]
    private let environment: [String: String]
    private let log: Log
    private let workers: Mutex<[Worker]>

    /// - Returns: nil if no command is configured.
    init?(_ configuration: Configuration, log: Log) {
        var commands: [String: (command: [String], worker: Int)] = [:]
        for (name, command) in configuration.commandsOnStateChange.sorted(by: { $0.key < $1.key }) {
            commands[name] = (command, commands.count % Self.threadCount)
        }
        guard !commands.isEmpty else { return nil }
        self.commands = commands
        self.log = log
        workers = Mutex(Array(repeating: Worker(), count: Self.threadCount))
        var environment: [String: String] = [:]
        for name in Self.passedOn { environment[name] = CurrentProcess.environment(name) }
        self.environment = environment
    }

    /// Queues the identity's command if it has one; never blocks.
    func run(for identity: String, in state: SessionState) {
        guard let (command, number) = commands[identity] else { return }
        let log = log.with(.identity, .string(identity))
        let thread: ThreadExecutor?
        do throws(SystemError) {
            thread = try queue(on: number)
        } catch {
            return log.warning(
                "a command of on_state_change was left out",
                [.state: .string(state.rawValue), .reason: .string(error.description)])
        }
        guard let thread else {
            return log.warning("too many commands wait; one was left out", [.state: .string(state.rawValue)])
        }
        thread.after(.zero) { [self] in
            execute(command, identity, state, log)
            workers.withLock { $0[number].waiting -= 1 }
        }
    }

    /// Ends the threads after their queued commands; call it when no command is queued any more.
    func stop() {
        workers.withLock { workers in
            for index in workers.indices { workers[index].thread.take()?.stop() }
        }
    }

    /// Takes a place in a thread's queue, and starts the thread if necessary.
    ///
    /// - Returns: nil if the queue is full.
    private func queue(on number: Int) throws(SystemError) -> ThreadExecutor? {
        try workers.withLock { workers throws(SystemError) -> ThreadExecutor? in
            guard workers[number].waiting < Self.longestQueue else { return nil }
            let thread =
                if let thread = workers[number].thread { thread } else {
                    try ThreadExecutor(named: "hook-\(number)")
                }
            workers[number].thread = thread
            workers[number].waiting += 1
            return thread
        }
    }

    private func execute(_ command: [String], _ identity: String, _ state: SessionState, _ log: Log) {
        var environment = environment
        environment["BEARERD_IDENTITY"] = identity
        environment["BEARERD_STATE"] = state.rawValue
        let reason: String
        do throws(SystemError) {
            switch try ChildProcess.run(command, environment: environment, limit: Self.hookLimit) {
            case .exited(0): return
            case .exited(let code): reason = "exit status \(code)"
            case .signalled(let number): reason = "ended by signal \(number)"
            case .killed: reason = "killed after \(Self.hookLimit.components.seconds) s"
            }
        } catch {
            reason = error.description
        }
        log.warning(
            "the command of on_state_change failed",
            [.state: .string(state.rawValue), .reason: .string(reason)])
    }
}

extension Configuration {
    /// The commands for changes of state, keyed by the identities' names.
    var commandsOnStateChange: [String: [String]] {
        let commands = identities.map { ($0.name, $0.onStateChange ?? onStateChange) }
        return Dictionary(commands.filter { !$0.1.isEmpty }, uniquingKeysWith: { first, _ in first })
    }
}
