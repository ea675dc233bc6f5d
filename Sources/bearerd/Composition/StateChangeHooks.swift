// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import OAuth
import BearerdObservability
import Synchronization
import BearerdSystem

/// Runs the commands of `on_state_change`, on threads of their own.
///
/// The runs of one identity keep their order. One that hangs is killed; what piles up behind it is bounded.
final class StateChangeHooks: Sendable {
    private static let limit = Duration.seconds(30)
    /// How many commands run at a time.
    private static let threadCount = 4
    /// How many commands wait on one thread.
    private static let longestQueue = 64
    /// What a command gets of our environment: nothing that anybody keeps a secret in.
    private static let passedOn = ["PATH", "HOME", "USER", "LANG", "TZ"]

    private struct Worker {
        var thread: ThreadExecutor?
        var waiting = 0
    }

    /// By identity: the command, and the number of the thread that runs it.
    private let commands: [String: (command: [String], worker: Int)]
    private let environment: [String: String]
    private let log: Log
    private let workers: Mutex<[Worker]>

    /// - Returns: nil if there is nothing to run ever.
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

    /// Has the identity's command run, if it has one; returns at once.
    func run(for identity: String, in state: IdentityState) {
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

    /// Ends the threads once what waits on them has run; call it when nobody has anything run any more.
    func stop() {
        workers.withLock { workers in
            for index in workers.indices { workers[index].thread.take()?.stop() }
        }
    }

    /// Takes a place in the queue of a thread, which is made if it is the first.
    ///
    /// - Returns: nil if there is no place.
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

    private func execute(_ command: [String], _ identity: String, _ state: IdentityState, _ log: Log) {
        var environment = environment
        environment["BEARERD_IDENTITY"] = identity
        environment["BEARERD_STATE"] = state.rawValue
        let reason: String
        do throws(SystemError) {
            switch try ChildProcess.run(command, environment: environment, limit: Self.limit) {
            case .exited(0): return
            case .exited(let code): reason = "exit status \(code)"
            case .signalled(let number): reason = "ended by signal \(number)"
            case .killed: reason = "killed after \(Self.limit.components.seconds) s"
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
    /// What runs on changes of state, by the identities' names; those without a command are left out.
    var commandsOnStateChange: [String: [String]] {
        let commands = identities.map { ($0.name, $0.onStateChange ?? onStateChange) }
        return Dictionary(commands.filter { !$0.1.isEmpty }, uniquingKeysWith: { first, _ in first })
    }
}
