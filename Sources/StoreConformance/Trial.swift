// SPDX-License-Identifier: Apache-2.0

import OAuth

/// One check of one promise, with an identity of its own and two open handles of the store.
struct Trial: Sendable {
    let identity: String
    let one: any SessionStore
    let other: any SessionStore
    /// The longest wait for a lock that is free.
    let patience: Duration

    /// A name that no other trial uses, with bytes that are special in paths and keys.
    static func newIdentity() -> String {
        "conformance/\(UInt64.random(in: 0 ... .max)) ä:*"
    }

    /// Names that some stores take for ``identity``, and how they differ from it.
    var alikeNames: [(name: String, difference: String)] {
        let parts = identity.split(separator: "\u{E4}", maxSplits: 1)
        func spelled(_ letter: String) -> String { parts.joined(separator: letter) }
        return [
            ("C" + identity.dropFirst(), "by case"), (spelled("\u{F6}"), "by a letter that is not ASCII"),
            (spelled(""), "by a letter that is not ASCII"),
            (spelled("a\u{308}"), "by how a letter is spelled"),
        ]
    }

    /// A session whose refresh token carries its generation.
    func session(_ generation: Int) -> StoredSession {
        var session = StoredSession(
            identity: identity, generation: generation, binding: "https://issuer.example client")
        session.refreshToken = Secret("not-a-token-\(generation)")
        session.scope = ["openid", "profile"]
        return session
    }

    /// Runs `body` with the lock of the identity.
    func locked<Answer: Sendable>(
        _ store: any SessionStore, waitingAtMost limit: Duration? = nil,
        _ body: (any StoreLease) async -> Answer
    ) async throws(StoreError) -> Answer {
        try await store.withLock(identity, waitingAtMost: limit ?? patience, body)
    }

    /// Increments the stored generation by a read, a change and a write under the lock.
    func countOn(_ store: any SessionStore) async throws(StoreError) {
        let failure = try await locked(store) { lease -> StoreError? in
            do throws(StoreError) {
                let read = try await store.load(identity)
                // A process that is not kept out comes in now.
                for _ in 0..<10 { await Task.yield() }
                try await lease.save(session((read?.generation ?? 0) + 1), over: read, keepingPrevious: true)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// Saves a session under a lease; returns the store's refusal, or nil.
    func save(
        _ generation: Int, over read: Int?, by lease: any StoreLease
    ) async -> StoreError? {
        do throws(StoreError) {
            try await lease.save(session(generation), over: read.map(session), keepingPrevious: true)
            return nil
        } catch {
            return error
        }
    }

    /// The stored generation.
    func generation(_ store: any SessionStore) async throws(StoreError) -> Int? {
        try await store.load(identity)?.generation
    }
}
