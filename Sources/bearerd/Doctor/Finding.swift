// SPDX-License-Identifier: Apache-2.0

/// The result of a check.
struct Finding: Equatable, Sendable {
    /// The verdict, spelled as people and programs read it.
    enum Result: String, Sendable {
        case ok
        case warn
        case fail
        /// The check does not apply, or could not be made.
        case skip
    }

    let result: Result
    /// The observation and its reason.
    let seen: String
    /// The command or configuration key that helps.
    let fix: String?
    /// True if dependent checks make no sense.
    let isBlocking: Bool

    private init(_ result: Result, _ seen: String, fix: String? = nil, isBlocking: Bool = false) {
        self.result = result
        self.seen = seen
        self.fix = fix
        self.isBlocking = isBlocking
    }

    /// The finding about an identity that no route uses: no request fails for it.
    var ofUnused: Finding {
        guard result == .fail else { return self }
        return Finding(.warn, "\(seen) (no route uses it)", fix: fix, isBlocking: isBlocking)
    }

    static func ok(_ seen: String) -> Finding { Finding(.ok, seen) }
    static func skip(_ why: String) -> Finding { Finding(.skip, why) }
    static func warn(_ seen: String, fix: String) -> Finding { Finding(.warn, seen, fix: fix) }
    static func fail(_ seen: String, fix: String) -> Finding {
        Finding(.fail, seen, fix: fix, isBlocking: true)
    }

    /// The finding of a check that makes no sense before `obstacle` is fixed.
    static func blocked(by obstacle: CheckID) -> Finding {
        Finding(.skip, "not looked at: \(obstacle.rawValue) comes first", isBlocking: true)
    }

    /// The finding of a check that has found what an earlier one has told.
    static func told(by other: CheckID) -> Finding {
        Finding(.skip, "the same as \(other.rawValue) above", isBlocking: true)
    }
}
