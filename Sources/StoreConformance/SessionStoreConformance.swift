// SPDX-License-Identifier: Apache-2.0

public import OAuth

/// Finds out whether a store keeps what `SessionStore` promises to the sessions that share it.
///
/// It depends on no testing framework: call it from a test of any of them, and expect nothing.
///
/// ```swift
/// let conformance = SessionStoreConformance { try MyStore(directory: directory) }
/// let violations = await conformance.violations()
/// #expect(violations.isEmpty, "\(violations)")
/// ```
///
/// Identities of names that nobody else has are made in the store, and stay there.
public struct SessionStoreConformance: Sendable {
    /// Something that a store promises.
    public enum Promise: String, CaseIterable, Sendable {
        /// What was saved is loaded, to the last member, by every opening of the store.
        case keeps
        /// Read, change and write under the lock are one step, however many do so at once.
        case oneStep
        /// One holder at a time, who keeps neither readers waiting nor other identities.
        case excludes
        /// Who waits for longer than it is told gets `StoreError.busy(by:)`, and its body does not run.
        case losesPatience
        /// Who is cancelled waits no longer, and is in nobody's way.
        case forgetsCancelled
        /// The lock is given up when the body ends, after a refused save too.
        case givesUp
        /// A save replaces only what its holder has read, by what is newer.
        case compares
        /// A lease is worth nothing once its body has ended.
        case endsLeases
        /// Every opening hears that another one has changed an identity.
        case tells
    }

    /// One broken promise.
    public struct Violation: Hashable, Sendable, CustomStringConvertible {
        /// What was promised.
        public let promise: Promise
        /// What was seen instead; no secret.
        public let reason: String

        /// The promise and the reason.
        public var description: String { "\(promise.rawValue): \(reason)" }
    }

    /// All promises that were broken.
    public struct Violations: Error, Hashable, Sendable, CustomStringConvertible {
        /// In the order of ``Promise``.
        public let all: [Violation]

        /// One line for each.
        public var description: String { all.map(\.description).joined(separator: "\n") }
    }

    let open: @Sendable () async throws -> any SessionStore
    private let isShared: Bool
    private let limit: Duration

    /// - Parameters:
    ///   - isShared: whether each opening is what another process would have; false for a store that ends with its
    ///     process, of which `open` returns the one there is.
    ///   - limit: how long each promise may take to be kept.
    ///   - open: opens the store once more.
    public init(
        isShared: Bool = true, limit: Duration = .seconds(20),
        opening open: @escaping @Sendable () async throws -> any SessionStore
    ) {
        self.isShared = isShared
        self.limit = limit
        self.open = open
    }

    /// Looks at promises one by one.
    ///
    /// - Parameter promises: which.
    /// - Returns: those that were broken, and how; empty if all is well.
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

    /// Looks at all promises.
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
