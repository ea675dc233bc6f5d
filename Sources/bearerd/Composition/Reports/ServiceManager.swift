// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import BearerdSystem
import OAuth
import Synchronization

/// Reports the daemon's state to the service manager (systemd); does nothing without one.
///
/// Any thread may call it, and it never blocks. A notice that the manager has no room for is sent again with
/// the next one.
final class ServiceManager: Sendable {
    /// The daemon's activity, in the words of `systemctl status`.
    private enum Phase: String {
        case starting
        case serving
        case reloading
        case draining
    }

    private struct State {
        var phase = Phase.starting
        /// The failure of the last reload, until one succeeds.
        var complaint: String?
        var identities: [(name: String, state: SessionState)] = []
        /// The identities whose sessions the end waits to store.
        var unstored = ""
        var unsent: [NotificationSocket.Notice] = []
        var hasFailed = false
    }

    /// The most identities that a status names; the others are counted.
    private static let namedCount = 16

    private let socket: NotificationSocket?
    private let log: Log
    private let state = Mutex(State())
    /// The time without a sign of life after which the manager ends the process; nil for none.
    let watchdogLimit: Duration?

    init(_ socket: NotificationSocket?, log: Log) {
        self.socket = socket
        self.log = log
        watchdogLimit = socket == nil ? nil : Self.watchdogLimit
    }

    /// Reports that the listeners are bound.
    func ready() { tell(.ready, in: .serving) }

    /// Reports that a reload begins.
    func reloading() { tell(.reloading, in: .reloading) }

    /// Reports that a reload is over.
    ///
    /// - Parameter complaint: the reason why the old configuration stays in force; nil if the new one is.
    func reloaded(complaint: String?) {
        state.withLock { $0.complaint = complaint }
        tell(.ready, in: .serving)
    }

    /// Reports that the end has begun.
    ///
    /// - Parameter grace: the longest time that it takes.
    func stopping(within grace: Duration) {
        tell(.stopping, .extendTimeout(grace), in: .draining)
    }

    /// Reports that the end waits for the store to take the sessions of these identities.
    func waiting(toStore names: String) {
        let isNews = state.withLock { state in
            defer { state.unstored = names }
            return state.unstored != names
        }
        if isNews { tell() }
    }

    /// Reports that all loops respond.
    func alive() { tell(.alive, isStatus: false) }

    /// Reports the state of an identity; nil if it was removed.
    func identity(_ name: String, isIn newState: SessionState?) {
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
