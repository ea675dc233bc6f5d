// SPDX-License-Identifier: Apache-2.0

import OAuth
import StoreConformance
import Synchronization
import Testing

/// A suite that finds nothing in a broken store would be worth nothing.
@Suite(.timeLimit(.minutes(10))) struct `The suite for stores of a program's own` {
    private func broken(
        _ fault: FaultyStore.Fault?, _ promises: [SessionStoreConformance.Promise]
    ) async -> [SessionStoreConformance.Violation] {
        let store = FaultyStore(fault)
        defer { store.end() }
        let limit: Duration = fault == nil ? .seconds(Int64.max) : .seconds(2)
        return await SessionStoreConformance(isShared: false, limit: limit) { store }
            .violations(of: promises)
    }

    @Test func `finds nothing in a store that keeps its promises`() async throws {
        #expect(await broken(nil, SessionStoreConformance.Promise.allCases).isEmpty)
        let store = FaultyStore(nil)
        try await SessionStoreConformance(isShared: false) { store }.verify()
    }

    @Test(
        arguments: [
            (.forgets, .keeps), (.changes, .keeps), (.locksNobodyOut, .oneStep),
            (.locksNobodyOut, .excludes), (.locksAllOut, .excludes), (.locksNobodyOut, .losesPatience),
            (.waitsForever, .losesPatience), (.waitsForever, .forgetsCancelled),
            (.keepsLock, .givesUp), (.comparesNothing, .givesUp), (.comparesNothing, .compares),
            (.leasesForever, .endsLeases), (.cutsRecords, .keeps), (.foldsCase, .keeps),
            (.dropsLetters, .keeps), (.normalizesNames, .keeps),
        ] as [(FaultyStore.Fault, SessionStoreConformance.Promise)])
    func `finds each fault`(fault: FaultyStore.Fault, promise: SessionStoreConformance.Promise) async throws {
        let found = await broken(fault, [promise])
        #expect(found.first?.promise == promise, "\(found)")
        #expect(found.allSatisfy { "\($0)".hasPrefix("\(promise.rawValue): ") })
    }

    @Test func `finds a store that tells nobody, and says all that is wrong at once`() async throws {
        let store = FaultyStore(.forgets)
        let conformance = SessionStoreConformance(limit: .seconds(2)) { store }
        let broken = await #expect(throws: SessionStoreConformance.Violations.self) {
            try await conformance.verify()
        }
        let promises = Set(broken?.all.map(\.promise) ?? [])
        #expect(promises.isSuperset(of: [.keeps, .tells]), "\(promises)")
        let line = broken.map { "\($0)" } ?? ""
        #expect(line.contains("keeps: ") && line.contains("; tells: ") && !line.contains("\n"), "\(line)")
    }

    @Test func `says why a store cannot be opened`() async {
        let violations = await SessionStoreConformance { throw StoreError.refused("a reason") }
            .violations(of: [.keeps])
        #expect(violations.map(\.reason) == ["it fails: a reason"])
    }
}

/// A store in memory that breaks one promise.
final class FaultyStore: SessionStore {
    enum Fault: Sendable {
        case forgets, changes, locksNobodyOut, locksAllOut, waitsForever, keepsLock, comparesNothing,
            leasesForever, cutsRecords, foldsCase, dropsLetters, normalizesNames
    }

    private struct State {
        var sessions: [[UInt8]: StoredSession] = [:]
        var held: [String: Int] = [:]
        var leases = 0
        var isOver = false
    }

    private let fault: Fault?
    private let state = Mutex(State())

    init(_ fault: Fault?) {
        self.fault = fault
    }

    /// Nobody waits any more, whatever the fault.
    func end() { state.withLock { $0.isOver = true } }

    func load(_ identity: String) async throws(StoreError) -> StoredSession? {
        var session = state.withLock { $0.sessions[key(identity)] }
        if fault == .changes { session?.scope = [] }
        if fault == .cutsRecords, session?.encoded().count ?? 0 > 64 << 10 { return nil }
        return session
    }

    /// The bytes by which a session is kept.
    private func key(_ identity: String) -> [UInt8] {
        switch fault {
        case .foldsCase: Array(identity.lowercased().utf8)
        case .dropsLetters: identity.utf8.filter { $0 < 0x80 }
        case .normalizesNames: Array(identity.replacing("a\u{308}", with: "\u{E4}").utf8)
        default: Array(identity.utf8)
        }
    }

    func lock(
        _ identity: String, waitingAtMost limit: Duration
    ) async throws(StoreError) -> any StoreLease {
        let name = fault == .locksAllOut ? "all" : identity
        let deadline = ContinuousClock.now + limit
        while true {
            let number = state.withLock { state -> Int? in
                guard state.held[name] == nil || fault == .locksNobodyOut else { return nil }
                state.leases += 1
                state.held[name] = state.leases
                return state.leases
            }
            if let number { return Lease(store: self, identity: identity, name: name, number: number) }
            let isOver = ContinuousClock.now >= deadline || Task.isCancelled
            if isOver, fault != .waitsForever || state.withLock({ $0.isOver }) { throw .busy(by: nil) }
            // A store that never gives up is what is tested: the suite's own deadline ends the wait.
            await Task.yield()
        }
    }

    func changes(of identity: String) -> AsyncStream<Void> { AsyncStream { $0.finish() } }

    private struct Lease: StoreLease {
        let store: FaultyStore
        let identity: String
        let name: String
        let number: Int

        func release() {
            store.state.withLock { state in
                if store.fault != .keepsLock, state.held[name] == number { state.held[name] = nil }
            }
        }

        private func check(_ state: borrowing State) throws(StoreError) {
            guard
                state.held[name] == number || store.fault == .leasesForever
                    || store.fault == .locksNobodyOut
            else { throw .leaseLost }
        }

        func save(
            _ session: StoredSession, over read: StoredSession?, keepingPrevious keepsPrevious: Bool
        ) async throws(StoreError) {
            try store.state.withLock { state throws(StoreError) in
                try check(state)
                if store.fault != .comparesNothing {
                    try session.checkReplacing(state.sessions[store.key(identity)], read: read)
                }
                if store.fault != .forgets { state.sessions[store.key(identity)] = session }
            }
        }

        func spend(_ session: StoredSession) async throws(StoreError) {
            try store.state.withLock { state throws(StoreError) in try check(state) }
        }
    }
}
