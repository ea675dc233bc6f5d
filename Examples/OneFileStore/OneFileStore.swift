// SPDX-License-Identifier: Apache-2.0

import Glibc
public import OAuth
import Synchronization

/// A store of the program's own: each session is a file, and one process uses them.
///
/// What it must promise is checked by `GTMMigration --check`.
public final class OneFileStore: SessionStore {
    private struct State {
        /// Who has an identity's lock: the number of the lease.
        var holders: [String: Int] = [:]
        var leases = 0
    }

    private let directory: String
    private let state = Mutex(State())

    /// A store in a directory, which is made if it is not there.
    public init(directory: String) {
        self.directory = directory
        mkdir(directory, 0o700)
    }

    private func path(_ identity: String) -> String {
        let name = identity.utf8.map { String($0, radix: 16) }.joined(separator: "-")
        return "\(directory)/\(name)"
    }

    public func load(_ identity: String) async throws(StoreError) -> StoredSession? {
        guard let file = fopen(path(identity), "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(byte)) }
        return StoredSession(decoding: bytes)
    }

    public func lock(
        _ identity: String, waitingAtMost limit: Duration
    ) async throws(StoreError) -> any StoreLease {
        let deadline = ContinuousClock.now + limit
        while true {
            if let lease = take(identity) { return lease }
            guard .now < deadline, !Task.isCancelled else { throw .busy(by: nil) }
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    /// No other process uses this store.
    public func changes(of identity: String) -> AsyncStream<Void> { AsyncStream { $0.finish() } }

    private func take(_ identity: String) -> Lease? {
        state.withLock { state in
            guard state.holders[identity] == nil else { return nil }
            state.leases += 1
            state.holders[identity] = state.leases
            return Lease(store: self, identity: identity, number: state.leases)
        }
    }

    private struct Lease: StoreLease {
        let store: OneFileStore
        let identity: String
        let number: Int

        func save(
            _ session: StoredSession, over read: StoredSession?, keepingPrevious keepsPrevious: Bool
        ) async throws(StoreError) {
            try await spend(session)
            try session.checkReplacing(try await store.load(identity), read: read)
            try store.write(session.encoded(), to: store.path(identity))
        }

        func spend(_ session: StoredSession) async throws(StoreError) {
            guard store.state.withLock({ $0.holders[identity] }) == number else { throw .leaseLost }
        }

        func release() async {
            store.state.withLock { state in
                if state.holders[identity] == number { state.holders[identity] = nil }
            }
        }
    }

    /// Writes beside the file and renames, so that a power cut leaves the one or the other.
    private func write(_ bytes: [UInt8], to path: String) throws(StoreError) {
        let temporary = path + ".new"
        umask(0o077)
        guard let file = fopen(temporary, "w") else { throw .unavailable("\(temporary) cannot be written") }
        let written = fwrite(bytes, 1, bytes.count, file)
        let isKept = written == bytes.count && fflush(file) == 0 && fsync(fileno(file)) == 0
        fclose(file)
        guard isKept, rename(temporary, path) == 0 else { throw .unavailable("\(path) cannot be written") }
    }
}
