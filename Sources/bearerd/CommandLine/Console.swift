// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import BearerdSystem

/// What a command says to the person, or script, that called it.
enum Console {
    /// Writes the result to standard output; nothing in it but its line ends is obeyed by a terminal.
    ///
    /// - Throws: a failure of output, as on a full disk.
    static func show(_ text: String) throws(CommandFailure) { try show(TerminalText(text)) }

    /// Writes the result to standard output, in colour if that is a terminal.
    ///
    /// - Throws: a failure of output, as on a full disk.
    static func show(_ text: TerminalText) throws(CommandFailure) {
        do throws(SystemError) {
            try StandardStream.output.write(text.written(inColour: TerminalText.isColoured))
        } catch {
            throw CommandFailure(.inputOutput, "standard output: \(SystemError.text(of: error.code))")
        }
    }

    /// Writes one line about a failure to standard error; if nobody reads that, there is no one left to tell.
    static func complain(_ line: String) {
        remark("bearerd: \(line)")
    }

    /// Writes one line to standard error, and one it stays whatever is in it.
    static func remark(_ line: String) {
        try? StandardStream.error.write("\(line.printable)\n")
    }
}
