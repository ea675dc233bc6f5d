// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Lines that a person types at the terminal.
package enum TerminalInput {
    /// A line from standard input without its end; nil at the end of the input.
    package static func line() -> String? { readLine() }

    /// A line that the terminal does not show while it is typed; shown where standard input is no terminal.
    package static func hiddenLine() -> String? {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return readLine() }
        var hidden = settings
        hidden.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &hidden)
        defer { tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) }
        return readLine()
    }
}
