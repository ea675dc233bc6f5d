// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc

/// A bearerd command on a terminal of its own (script(1)), with standard output and error as one text.
struct TerminalProgram {
    private let script: Subprocess

    /// - Parameter environment: variables like `NO_COLOR=1` that replace those of the tests.
    init(_ words: [String], environment: [String] = []) throws {
        let command = ([BearerdProcess.binary] + words).map { "'\($0)'" }.joined(separator: " ")
        let settings =
            environment.contains { $0.hasPrefix("TERM=") } ? environment : environment + ["TERM=xterm"]
        script = try Subprocess(
            ["/usr/bin/env", "-u", "NO_COLOR"] + settings + [
                "/usr/bin/script", "-qefc", "exec \(command)", "/dev/null",
            ])
    }

    /// Waits until `text` was shown.
    ///
    /// - Returns: everything that was.
    @discardableResult
    func shows(_ text: String) throws -> String {
        try script.output.wait(for: "'\(text)' to be shown") { capture in
            capture.text.contains(text) ? capture.text : nil
        }
    }

    /// Sends SIGINT, as Ctrl-C does.
    func interrupt() throws {
        let children = "/proc/\(script.processID)/task/\(script.processID)/children"
        let text = String(decoding: TemporaryDirectory.contents(of: children), as: UTF8.self)
        guard let child = text.split(separator: " ").first.flatMap({ Int32($0) }) else {
            throw WireError("nothing runs on the terminal: '\(text)'")
        }
        kill(child, SIGINT)
    }

    func waitForEnd() throws -> Subprocess.Termination { try script.waitForEnd() }
}
