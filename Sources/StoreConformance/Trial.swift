// SPDX-License-Identifier: Apache-2.0

import OAuth

/// One look at one promise: an identity of its own, and two openings of the store.
struct Trial: Sendable {
    let identity: String
    let one: any SessionStore
    let other: any SessionStore
    /// How long a lock is waited for that is to be had.
    let patience: Duration

    /// A name that no other trial has, with bytes that stand for something in paths and keys.
    static func newIdentity() -> String {
        "conformance/\(UInt64.random(in: 0 ... .max)) ä:*"
    }

    /// A session whose refresh token carries its generation.
    func session(_ generation: Int) -> StoredSession {
        var session = StoredSession(
            identity: identity, generation: generation, binding: "https://issuer.example client")
        session.refreshToken = Secret("not-a-token-\(generation)")
        session.scope = ["openid", "profile"]
        return session
    }

    /// Runs `body` with a lock that somebody waits for as long as is decent.
    func locked<Answer: Sendable>(
        _ store: any SessionStore, waitingAtMost limit: Duration? = nil,
        _ body: (any StoreLease) async -> Answer
    ) async throws(StoreError) -> Answer {
        try await store.withLock(identity, waitingAtMost: limit ?? patience, body)
    }

    /// Counts the generation on, as who reads, changes and writes.
    func countOn(_ store: any SessionStore) async throws(StoreError) {
        let failure = try await locked(store) { lease -> StoreError? in
            do throws(StoreError) {
                let read = try await store.load(identity)
                // Who is not kept out comes in now.
                for _ in 0..<10 { await Task.yield() }
                try await lease.save(session((read?.generation ?? 0) + 1), over: read, keepingPrevious: true)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// What a save came to; nil if it was taken.
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

    /// The generation that is stored.
    func generation(_ store: any SessionStore) async throws(StoreError) -> Int? {
        try await store.load(identity)?.generation
    }
}
