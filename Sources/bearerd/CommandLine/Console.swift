// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import BearerdSystem
import Glibc

/// The output of a command.
enum Console {
    /// Writes a result to standard output, with characters that control a terminal escaped.
    ///
    /// - Throws: a failure of output, for instance on a full disk.
    static func show(_ text: String) throws(CommandFailure) { try show(TerminalText(text)) }

    /// Writes a result to standard output, in colour if that is a terminal.
    ///
    /// - Throws: a failure of output, for instance on a full disk.
    static func show(_ text: TerminalText) throws(CommandFailure) {
        do throws(SystemError) {
            try StandardStream.output.write(text.written(inColour: TerminalText.isColoured))
        } catch {
            let reason = error.code == EBADF ? "it is closed" : SystemError.text(of: error.code)
            throw CommandFailure(.inputOutput, "standard output: \(reason)")
        }
    }

    /// Writes one line about a failure to standard error; ignores failures to do so.
    static func complain(_ line: String) {
        remark("bearerd: \(line)")
    }

    /// Writes one line to standard error, with line ends in it escaped.
    static func remark(_ line: String) {
        try? StandardStream.error.write("\(line.printable)\n")
    }
}
