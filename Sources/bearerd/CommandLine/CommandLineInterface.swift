// SPDX-License-Identifier: Apache-2.0

import Cryptography
import System

/// From the words of the command line to the end of the process.
enum CommandLineInterface {
    /// Does what the words ask for.
    ///
    /// - Parameter words: without the program's own name.
    /// - Returns: how the process ends.
    static func run(_ words: [String]) -> ExitStatus {
        do throws(CommandFailure) {
            return try perform(words)
        } catch {
            if !error.message.isEmpty { Console.complain(error.message) }
            return error.status
        }
    }

    private static func perform(_ words: [String]) throws(CommandFailure) -> ExitStatus {
        guard let word = words.first else {
            throw CommandFailure(.usage, "no command given; 'bearerd --help' lists them")
        }
        switch word {
        case "-h", "--help": return try perform(HelpCommand.self, [])
        case "-V", "--version": return try perform(VersionCommand.self, Array(words.dropFirst()))
        default: return try perform(CommandList.command(word), Array(words.dropFirst()))
        }
    }

    private static func perform(
        _ command: any Command.Type, _ words: [String]
    ) throws(CommandFailure) -> ExitStatus {
        do throws(CommandFailure) {
            let arguments = try ParsedArguments(words, options: command.allOptions, operand: command.operand)
            guard !arguments.has(.help) else {
                try Console.show(HelpText.help(for: command))
                return .success
            }
            guard SecureRandom.isAvailable else {
                throw CommandFailure(
                    .systemRefuses, "the system has no randomness to give: getrandom and /dev/urandom fail")
            }
            return try command.init(arguments).run()
        } catch {
            guard !error.message.isEmpty else { throw error }
            let hint = error.status == .usage ? "; 'bearerd \(command.name) --help' tells more" : ""
            throw CommandFailure(error.status, "\(command.name): \(error.message)\(hint)")
        }
    }
}
