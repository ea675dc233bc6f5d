// SPDX-License-Identifier: Apache-2.0

import Configuration

/// The commands that there are.
enum CommandList {
    /// In the order of the help.
    static var all: [any Command.Type] {
        [
            RunCommand.self, CheckCommand.self, DoctorCommand.self, StatusCommand.self,
            HealthcheckCommand.self, WaitCommand.self,
            LoginCommand.self, ExchangeCommand.self, TokenCommand.self, RefreshCommand.self,
            UserinfoCommand.self, RevokeCommand.self, LogoutCommand.self, ImportCommand.self,
            RegisterCommand.self, DiscoverCommand.self, DemoCommand.self, CompletionCommand.self,
            HelpCommand.self, VersionCommand.self,
        ]
    }

    /// The command that a word asks for.
    ///
    /// - Throws: a failure of usage if there is none.
    static func command(_ word: String) throws(CommandFailure) -> any Command.Type {
        if let command = all.first(where: { $0.name == word }) { return command }
        if word.hasPrefix("-") {
            throw CommandFailure(
                .usage, "unknown option '\(word)'; the command comes first: bearerd COMMAND [OPTIONS]")
        }
        let hint = NearMiss.hint(for: word, among: all.map { $0.name })
        throw CommandFailure(
            .usage, "unknown command '\(word)'\(hint.isEmpty ? "; 'bearerd --help' lists them" : hint)")
    }
}
