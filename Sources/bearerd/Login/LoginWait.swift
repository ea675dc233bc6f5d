// SPDX-License-Identifier: Apache-2.0

import BearerdSystem

/// What a person who is to log in should know while nothing happens.
enum LoginWait {
    /// Whether a person reads standard error; a script needs none of this.
    static var isWatched: Bool { CurrentProcess.isTerminal(2) }

    /// Says that the login is waited for, for how long, and how to end that.
    static func tell(_ limit: Duration) {
        guard isWatched else { return }
        Console.remark("waiting for the login, at most \(words(for: limit)); Ctrl-C gives it up")
    }

    /// `5 min`, `90 s`.
    private static func words(for limit: Duration) -> String {
        let seconds = Int((limit / .seconds(1)).rounded())
        return seconds >= 120 && seconds % 60 == 0 ? "\(seconds / 60) min" : "\(max(1, seconds)) s"
    }
}
