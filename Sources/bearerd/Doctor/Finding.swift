// SPDX-License-Identifier: Apache-2.0

/// What a check has found.
struct Finding: Equatable, Sendable {
    /// How it is; spelled as people and programs read it.
    enum Result: String, Sendable {
        case ok
        case warn
        case fail
        /// Nothing can be told, or there is nothing to tell.
        case skip
    }

    let result: Result
    /// What was seen, and why that is as it is.
    let seen: String
    /// The command or the key that mends it.
    let fix: String?
    /// Whether what depends on it cannot be looked at.
    let isBlocking: Bool

    private init(_ result: Result, _ seen: String, fix: String? = nil, isBlocking: Bool = false) {
        self.result = result
        self.seen = seen
        self.fix = fix
        self.isBlocking = isBlocking
    }

    static func ok(_ seen: String) -> Finding { Finding(.ok, seen) }
    static func skip(_ why: String) -> Finding { Finding(.skip, why) }
    static func warn(_ seen: String, fix: String) -> Finding { Finding(.warn, seen, fix: fix) }
    static func fail(_ seen: String, fix: String) -> Finding {
        Finding(.fail, seen, fix: fix, isBlocking: true)
    }

    /// There is nothing to tell before `obstacle` is mended.
    static func blocked(by obstacle: CheckID) -> Finding {
        Finding(.skip, "not looked at: \(obstacle.rawValue) comes first", isBlocking: true)
    }
}
