// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdSystem

/// Runs the command that the command line calls.
struct CommandLineInterface {
    let catalog: CommandCatalog

    /// Runs the command of a command line.
    ///
    /// - Parameter words: the arguments without the program's name.
    /// - Returns: the exit status of the process.
    func run(_ words: [String]) -> ExitStatus {
        do throws(CommandFailure) {
            return try perform(words)
        } catch {
            if !error.message.isEmpty { Console.complain(error.message) }
            return error.status
        }
    }

    private func perform(_ words: [String]) throws(CommandFailure) -> ExitStatus {
        guard let word = words.first else {
            throw CommandFailure(.usage, "no command given; 'bearerd --help' lists them")
        }
        let rest = Array(words.dropFirst())
        return switch word {
        case "-h", "--help": try perform(catalog.command("help"), [])
        case "-V", "--version": try perform(catalog.command("version"), rest)
        default: try perform(catalog.command(word), rest)
        }
    }

    private func perform(
        _ command: any Command.Type, _ words: [String]
    ) throws(CommandFailure) -> ExitStatus {
        do throws(CommandFailure) {
            // A script may give each command the same file; those that read none do not list the option.
            let options = command.allOptions.filter { $0 != .config } + [.config]
            let arguments = try ParsedArguments(
                words, options: options, operand: command.operand, catalog: catalog)
            guard !arguments.has(.help) else {
                try Console.show(HelpText.help(for: command, of: catalog))
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
