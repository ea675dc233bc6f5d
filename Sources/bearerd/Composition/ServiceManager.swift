// SPDX-License-Identifier: Apache-2.0

import OAuth
import BearerdObservability
import Synchronization
import BearerdSystem

/// Tells the service manager (systemd) how the daemon is; without one all of this does nothing.
///
/// It may be told from any thread and never blocks. What the manager has no room for is told again with the next notice.
final class ServiceManager: Sendable {
    /// What the daemon does, in the words of `systemctl status`.
    private enum Phase: String {
        case starting
        case serving
        case reloading
        case draining
    }

    private struct State {
        var phase = Phase.starting
        /// Of the last reload that failed, until one succeeds.
        var complaint: String?
        var identities: [(name: String, state: IdentityState)] = []
        /// Those whose sessions the end waits for the store to take.
        var unstored = ""
        var unsent: [NotificationSocket.Notice] = []
        var hasFailed = false
    }

    /// So many identities are named in a status; the others are counted.
    private static let namedCount = 16

    private let socket: NotificationSocket?
    private let log: Log
    private let state = Mutex(State())
    /// How long the manager waits for a sign of life before it ends the process; nil if it waits for none.
    let watchdogLimit: Duration?

    init(_ socket: NotificationSocket?, log: Log) {
        self.socket = socket
        self.log = log
        watchdogLimit = socket == nil ? nil : Self.watchdogLimit
    }

    /// The listeners are bound.
    func ready() { tell(.ready, in: .serving) }

    /// A reload begins.
    func reloading() { tell(.reloading, in: .reloading) }

    /// A reload is over.
    ///
    /// - Parameter complaint: why the old configuration goes on; nil if the new one is in force.
    func reloaded(complaint: String?) {
        state.withLock { $0.complaint = complaint }
        tell(.ready, in: .serving)
    }

    /// The end has begun.
    ///
    /// - Parameter grace: how long it may take.
    func stopping(within grace: Duration) {
        tell(.stopping, .extendTimeout(grace), in: .draining)
    }

    /// The end waits until the store takes the sessions of these identities.
    func waiting(toStore names: String) {
        let isNews = state.withLock { state in
            defer { state.unstored = names }
            return state.unstored != names
        }
        if isNews { tell() }
    }

    /// All loops turn.
    func alive() { tell(.alive, isStatus: false) }

    /// An identity that is not any more, or that has a state.
    func identity(_ name: String, isIn newState: IdentityState?) {
        state.withLock { state in
            let index = state.identities.firstIndex { $0.name == name }
            switch (index, newState) {
            case (let index?, let newState?): state.identities[index].state = newState
            case (let index?, nil): state.identities.remove(at: index)
            case (nil, let newState?): state.identities.append((name, newState))
            case (nil, nil): return
            }
        }
        tell()
    }

    private func tell(_ notices: NotificationSocket.Notice..., in phase: Phase? = nil, isStatus: Bool = true)
    {
        guard let socket else { return }
        let failure = state.withLock { state -> SystemError? in
            // Nothing comes after the end, whatever was still under way.
            guard state.phase != .draining || phase == nil else { return nil }
            if let phase { state.phase = phase }
            var all = state.unsent + notices
            if isStatus {
                all.removeAll { if case .status = $0 { true } else { false } }
                all.append(.status(Self.status(of: state)))
            }
            switch socket.send(all) {
            case .delivered:
                state.unsent = []
                return nil
            case .busy:
                // A sign of life that is late is none.
                state.unsent = all.filter { $0 != .alive }
                return nil
            case .failed(let error):
                state.unsent = []
                defer { state.hasFailed = true }
                return state.hasFailed ? nil : error
            }
        }
        guard let failure else { return }
        log.warning("the service manager cannot be told anything", [.reason: .string(failure.description)])
    }

    private static func status(of state: State) -> String {
        let named = state.identities.prefix(namedCount).map { "\($0.name): \($0.state.rawValue)" }
        let left = state.identities.count - named.count
        let identities = (named + (left > 0 ? ["\(left) more"] : [])).joined(separator: ", ")
        let complaint = state.complaint.map { "; the configuration could not be reloaded: \($0)" } ?? ""
        let wait = state.unstored.isEmpty ? "" : ", waiting for the store to take \(state.unstored)"
        return state.phase.rawValue + wait + (identities.isEmpty ? "" : "; \(identities)") + complaint
    }

    /// `WATCHDOG_USEC`, if it is meant for this process (`WATCHDOG_PID`).
    private static var watchdogLimit: Duration? {
        let process = CurrentProcess.environment("WATCHDOG_PID")
        guard process == nil || process == "\(CurrentProcess.identifier)",
            let limit = CurrentProcess.environment("WATCHDOG_USEC").flatMap(Int64.init), limit > 0
        else { return nil }
        return .microseconds(limit)
    }
}
