// SPDX-License-Identifier: Apache-2.0

import Configuration
import Cryptography
import System

/// From the words of the command line to the end of the process.
enum CommandLineInterface {
    /// The commands that work, in the order of the help.
    private static var commands: [any Command.Type] {
        [
            RunCommand.self, CheckCommand.self, StatusCommand.self, LoginCommand.self, ExchangeCommand.self,
            TokenCommand.self, RefreshCommand.self, UserinfoCommand.self, RevokeCommand.self,
            LogoutCommand.self, ImportCommand.self, RegisterCommand.self, DiscoverCommand.self,
            WaitCommand.self, HealthcheckCommand.self, DemoCommand.self,
        ]
    }

    /// The commands of the contract that are still to be built: known, not shown in the help, refused.
    private static let notSupportedYet = [
        "doctor"
    ]

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
        case "help":
            return try help(words.dropFirst())
        case "-h", "--help":
            return try showOverview()
        case "-V", "--version", "version":
            guard !asksForHelp(words.dropFirst()) else { return try showOverview() }
            try refuse(words.dropFirst())
            try Console.show("bearerd \(Version.text)\n")
            return .success
        default:
            guard let command = commands.first(where: { $0.name == word }) else { throw unknown(word) }
            return try perform(command, Array(words.dropFirst()))
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

    private static func showOverview() throws(CommandFailure) -> ExitStatus {
        try Console.show(HelpText.overview(of: commands))
        return .success
    }

    /// `help [COMMAND]`.
    private static func help(_ words: ArraySlice<String>) throws(CommandFailure) -> ExitStatus {
        guard let word = words.first, !asksForHelp(words) else { return try showOverview() }
        try refuse(words.dropFirst())
        guard let command = commands.first(where: { $0.name == word }) else { throw unknown(word) }
        try Console.show(HelpText.help(for: command))
        return .success
    }

    private static func asksForHelp(_ words: ArraySlice<String>) -> Bool {
        words.first.map(["-h", "--help"].contains) ?? false
    }

    /// What knows no arguments gets none.
    private static func refuse(_ rest: ArraySlice<String>) throws(CommandFailure) {
        guard let word = rest.first else { return }
        throw CommandFailure(.usage, "unexpected argument '\(word)'")
    }

    private static func unknown(_ word: String) -> CommandFailure {
        if notSupportedYet.contains(word) {
            return CommandFailure(.unavailable, "\(word): not supported yet")
        }
        if word.hasPrefix("-") {
            return CommandFailure(
                .usage, "unknown option '\(word)'; the command comes first: bearerd COMMAND [OPTIONS]")
        }
        let hint = NearMiss.hint(
            for: word, among: commands.map { $0.name } + ["help", "version"] + notSupportedYet)
        return CommandFailure(
            .usage, "unknown command '\(word)'\(hint.isEmpty ? "; 'bearerd --help' lists them" : hint)")
    }
}
