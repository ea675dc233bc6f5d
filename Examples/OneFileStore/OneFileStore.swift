// SPDX-License-Identifier: Apache-2.0

import Glibc
public import OAuth
import Synchronization

/// A store of the program's own: each session is a file, and one process uses them.
///
/// What it must promise is checked by `GTMMigration --check`.
public final class OneFileStore: SessionStore {
    private struct State {
        /// Who has the lock of an identity, by its path: the number of the lease.
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
        let path = path(identity)
        guard let bytes = try read(path) else { return nil }
        guard !StoredSession.isOfLaterLayout(bytes) else {
            throw .refused("\(path) was written by a later version of the program")
        }
        return StoredSession(decoding: bytes)
    }

    /// The bytes of a file; nil only where there is none, because a session that cannot be read is no missing one.
    private func read(_ path: String) throws(StoreError) -> [UInt8]? {
        guard let file = fopen(path, "re") else {
            if errno == ENOENT { return nil }
            throw .unavailable("\(path) cannot be opened")
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(byte)) }
        guard ferror(file) == 0 else { throw .unavailable("\(path) cannot be read") }
        return bytes
    }

    public func lock(
        _ identity: String, waitingAtMost limit: Duration
    ) async throws(StoreError) -> any StoreLease {
        let deadline = ContinuousClock.now + limit
        while true {
            if let lease = take(path(identity)) { return lease }
            guard .now < deadline, !Task.isCancelled else { throw .busy(by: nil) }
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    /// No other process uses this store.
    public func changes(of identity: String) -> AsyncStream<Void> { AsyncStream { $0.finish() } }

    private func take(_ path: String) -> Lease? {
        state.withLock { state in
            guard state.holders[path] == nil else { return nil }
            state.leases += 1
            state.holders[path] = state.leases
            return Lease(store: self, path: path, number: state.leases)
        }
    }

    private struct Lease: StoreLease {
        let store: OneFileStore
        let path: String
        let number: Int

        func save(
            _ session: StoredSession, over read: StoredSession?, keepingPrevious keepsPrevious: Bool
        ) async throws(StoreError) {
            try await spend(session)
            try session.checkReplacing(try await store.load(session.identity), read: read)
            try store.write(session.encoded(), to: path)
        }

        func spend(_ session: StoredSession) async throws(StoreError) {
            guard store.state.withLock({ $0.holders[path] }) == number else { throw .leaseLost }
        }

        func release() async {
            store.state.withLock { state in
                if state.holders[path] == number { state.holders[path] = nil }
            }
        }
    }

    /// Writes beside the file and renames, so that a power cut leaves the one or the other; once the directory is written, the new
    /// one.
    private func write(_ bytes: [UInt8], to path: String) throws(StoreError) {
        let temporary = path + ".new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0, let file = fdopen(descriptor, "w") else {
            throw .unavailable("\(temporary) cannot be written")
        }
        let written = fwrite(bytes, 1, bytes.count, file)
        let isKept = written == bytes.count && fflush(file) == 0 && fsync(descriptor) == 0
        fclose(file)
        guard isKept, rename(temporary, path) == 0, writeDirectory() else {
            throw .unavailable("\(path) cannot be written")
        }
    }

    private func writeDirectory() -> Bool {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }
}
