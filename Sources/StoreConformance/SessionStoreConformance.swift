// SPDX-License-Identifier: Apache-2.0

public import OAuth

// Programs have it in their tests alone, which have Foundation.
public import protocol Foundation.LocalizedError

/// Checks that a store keeps the promises of `SessionStore` to the sessions that share it.
///
/// It depends on no testing framework: call it from a test of any of them, and expect nothing.
///
/// ```swift
/// let conformance = SessionStoreConformance { try openStore() }
/// for violation in await conformance.violations() { print(violation) }
/// ```
///
/// Each check makes an identity with a random name in the store, and leaves it there.
public struct SessionStoreConformance: Sendable {
    /// A promise of every store.
    public enum Promise: String, CaseIterable, Sendable {
        /// A saved session, however large, is loaded unchanged through every open handle of the store, and by no other name: names
        /// are compared by their bytes.
        case keeps
        /// Reading, changing and writing under the lock is atomic, however many do so at once.
        case oneStep
        /// One holder has the lock of an identity; readers and other identities do not wait for it.
        case excludes
        /// A caller that waits longer than its limit gets `StoreError.busy(by:)`, and its body does not run.
        case losesPatience
        /// A cancelled caller stops waiting and does not hold up others.
        case forgetsCancelled
        /// The lock is released when the body ends, even after a refused save.
        case givesUp
        /// A save is refused if the store holds a newer session than the holder read, or the new session is
        /// not newer than the stored one.
        case compares
        /// A lease is refused once its body has ended.
        case endsLeases
        /// Every open handle is told that another one has changed an identity.
        case tells
    }

    /// One broken promise.
    public struct Violation: Hashable, Sendable, CustomStringConvertible {
        /// The broken promise.
        public let promise: Promise
        /// The observed behaviour, without secrets.
        public let reason: String

        /// The promise and the reason, on one line.
        public var description: String { "\(promise.rawValue): \(reason)" }
    }

    /// All promises that were broken.
    public struct Violations: ExplainedError, LocalizedError, Hashable, Sendable {
        /// The violations, in the order of ``Promise``.
        public let all: [Violation]

        package init(all: [Violation]) { self.all = all }

        /// One clause for each.
        public var sentence: String {
            "the store breaks its promises: \(all.map(\.description).joined(separator: "; "))"
        }

        /// The ``sentence``, for `localizedDescription`.
        public var errorDescription: String? { description }
    }

    let open: @Sendable () async throws -> any SessionStore
    private let isShared: Bool
    private let limit: Duration

    /// - Parameters:
    ///   - isShared: true if each call of `open` returns a handle like that of another process; false for a
    ///     store that ends with its process, whose only handle `open` returns.
    ///   - limit: the longest time that the check of one promise may take.
    ///   - open: opens the store once more.
    public init(
        isShared: Bool = true, limit: Duration = .seconds(20),
        opening open: @escaping @Sendable () async throws -> any SessionStore
    ) {
        self.isShared = isShared
        self.limit = limit
        self.open = open
    }

    /// Checks promises one after the other.
    ///
    /// - Parameter promises: the promises to check.
    /// - Returns: the broken promises with reasons; empty if there are none.
    public func violations(of promises: [Promise] = Promise.allCases) async -> [Violation] {
        var all: [Violation] = []
        for promise in promises where isShared || promise != .tells {
            let found: [String]? = await Deadline(limit).race { await self.reasons(against: promise) }
            for reason in found ?? ["it takes longer than \(limit)"] {
                all.append(Violation(promise: promise, reason: reason))
            }
        }
        return all
    }

    /// Checks all promises.
    ///
    /// - Throws: ``Violations`` if one is broken.
    public func verify() async throws(Violations) {
        let all = await violations()
        if !all.isEmpty { throw Violations(all: all) }
    }

    private func reasons(against promise: Promise) async -> [String] {
        do {
            let trial = Trial(
                identity: Trial.newIdentity(), one: try await open(), other: try await open(),
                patience: limit / 4)
            switch promise {
            case .keeps: return try await trial.keeps()
            case .oneStep: return try await trial.oneStep()
            case .excludes: return try await trial.excludes()
            case .losesPatience: return try await trial.losesPatience()
            case .forgetsCancelled: return try await trial.forgetsCancelled()
            case .givesUp: return try await trial.givesUp()
            case .compares: return try await trial.compares()
            case .endsLeases: return try await trial.endsLeases()
            case .tells: return try await trial.tells()
            }
        } catch let error as StoreError {
            return ["it fails: \(error.reason)"]
        } catch {
            return ["it fails: \(error)"]
        }
    }
}
