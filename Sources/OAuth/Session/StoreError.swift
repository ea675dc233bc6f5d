// SPDX-License-Identifier: Apache-2.0

/// Why a store could not do what was asked.
public enum StoreError: Error, Equatable, Sendable {
    /// Another process held the lock for too long: which, and since when, where that is known.
    case busy(by: String?)
    /// Reading or writing failed; the reason names the operation, the path and the system's words, no secret.
    case unavailable(String)

    /// Whether the lock was not to be had, and nothing else is known to be wrong.
    public var isBusy: Bool {
        switch self {
        case .busy: true
        case .unavailable: false
        }
    }

    /// What failed, in one line.
    public var reason: String {
        switch self {
        case .busy(let holder): "\(holder ?? "another process") keeps the store's lock"
        case .unavailable(let reason): reason
        }
    }

    /// The word for programs.
    public var code: String {
        switch self {
        case .busy: "store_busy"
        case .unavailable: "store_unavailable"
        }
    }
}

extension TokenFailure {
    /// Nothing was asked for, because the store failed.
    init(_ error: StoreError) {
        self.init(.transient, code: error.code, detail: error.reason)
        isAboutStore = true
    }
}
