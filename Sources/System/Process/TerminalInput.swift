// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem

/// Lines that a person types at the terminal.
package enum TerminalInput {
    /// A line from standard input without its end; nil at the end of the input.
    package static func line() -> String? { readLine() }

    /// A line that the terminal does not show while it is typed; shown where standard input is no terminal.
    ///
    /// A signal that ends or stops the process leaves the terminal as it was.
    ///
    /// - Parameter question: on standard error already, and written there again when the process was stopped and goes on.
    package static func hiddenLine(answering question: String) -> String? {
        guard bearerd_hide_typing(question, question.utf8.count) == 0 else { return readLine() }
        defer { bearerd_show_typing() }
        return readLine()
    }
}
