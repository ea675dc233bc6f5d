// SPDX-License-Identifier: Apache-2.0

import BearerdSystem

/// Messages for a person while a command waits for a login.
enum LoginWait {
    /// True if a person reads standard error; a script needs no messages.
    static var isWatched: Bool { CurrentProcess.isTerminal(2) }

    /// Prints how long the command waits, and how to end that.
    static func tell(_ limit: Duration) {
        guard isWatched else { return }
        Console.remark("waiting for the login, at most \(words(for: limit)); Ctrl-C gives it up")
    }

    /// A duration such as `5 min` or `90 s`.
    static func words(for limit: Duration) -> String {
        let seconds = Int((limit / .seconds(1)).rounded())
        return seconds >= 120 && seconds % 60 == 0 ? "\(seconds / 60) min" : "\(max(1, seconds)) s"
    }
}
