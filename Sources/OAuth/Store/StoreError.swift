// SPDX-License-Identifier: Apache-2.0

/// Why a store could not do what was asked.
public enum StoreError: ExplainedError, Equatable, Sendable {
    /// Somebody else held the lock for too long: who, and since when, where that is known.
    case busy(by: String?)
    /// Reading or writing failed; the reason names the operation, the path and the system's words, no secret.
    case unavailable(String)
    /// The store as a whole is out of reach, which it tells people by itself; nothing is renewed before it is back.
    case unreachable(String)
    /// The store as a whole lets us in no more, which it tells people by itself; a person must change that.
    case denied(String)
    /// The entry is not ours to read or to replace, and stays so until a person has acted.
    case refused(String)
    /// There is no right to do it there; a person must give it.
    case forbidden(String)
    /// Somebody stored a newer session since ours was read.
    case outdated
    /// The lock went to somebody else before we were done.
    case leaseLost

    /// The holder of a lock that an identity of this process has, for people: after a reload the one of before may still wait
    /// for the authorization server.
    package static let thisProcess = "an earlier request of this process"

    /// Nothing is stored any more.
    static let stopped = StoreError.unavailable("the session was stopped")

    /// A refresh token is not taken over that the authorization server has replaced since it was taken over before.
    package static let spentImport = StoreError.refused(
        "this refresh token was imported before, and the provider has replaced it since: sending it again would be taken for a "
            + "theft, and the session that is there would be lost; to begin with it all the same, log out first"
    )

    /// True if the lock was not to be had, and nothing else is known to be wrong.
    public var isBusy: Bool {
        switch self {
        case .busy: true
        case .unavailable, .unreachable, .denied, .refused, .forbidden, .outdated, .leaseLost: false
        }
    }

    /// True if only a person can help, so that trying again does not.
    public var isRefused: Bool {
        switch self {
        case .refused, .forbidden, .denied: true
        case .busy, .unavailable, .unreachable, .outdated, .leaseLost: false
        }
    }

    /// True if nothing can be had of the store for any identity: whoever shares it may be using what it has.
    public var isOutage: Bool {
        switch self {
        case .unreachable, .denied: true
        case .busy, .unavailable, .refused, .forbidden, .outdated, .leaseLost: false
        }
    }

    /// The reason, in one line.
    public var reason: String {
        switch self {
        case .busy(let holder): "\(holder ?? "somebody else") keeps the store's lock"
        case .unavailable(let reason), .unreachable(let reason), .denied(let reason), .refused(let reason),
            .forbidden(let reason):
            reason
        case .outdated: "another process has stored a newer session meanwhile"
        case .leaseLost: "the store's lock went to somebody else meanwhile"
        }
    }

    /// The same error, whose reason says more.
    func adding(_ words: String) -> StoreError {
        switch self {
        case .unavailable(let reason): .unavailable(reason + words)
        case .unreachable(let reason): .unreachable(reason + words)
        case .denied(let reason): .denied(reason + words)
        case .refused(let reason): .refused(reason + words)
        case .forbidden(let reason): .forbidden(reason + words)
        case .busy, .outdated, .leaseLost: self
        }
    }

    /// The ``reason``.
    public var sentence: String { reason.shownReason }

    /// The word for programs.
    public var code: String {
        switch self {
        case .busy: "store_busy"
        case .unavailable, .unreachable, .denied, .refused, .forbidden, .outdated, .leaseLost:
            "store_unavailable"
        }
    }
}

extension TokenFailure {
    /// Nothing was asked for, because the store failed.
    init(_ error: StoreError) {
        self.init(.transient, .store(error), detail: error.reason)
    }
}
