// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration

/// The commands of the command line.
struct CommandCatalog {
    /// The commands in the order of the help.
    let commands: [any Command.Type]

    init(_ commands: [any Command.Type]) { self.commands = commands }

    /// Finds the command that is called by a word.
    ///
    /// - Throws: a failure of usage if there is none.
    func command(_ word: String) throws(CommandFailure) -> any Command.Type {
        if let command = commands.first(where: { $0.name == word }) { return command }
        if word.hasPrefix("-") {
            throw CommandFailure(
                .usage, "unknown option '\(word)'; the command comes first: bearerd COMMAND [OPTIONS]")
        }
        let hint = NearMiss.hint(for: word, among: commands.map { $0.name })
        throw CommandFailure(
            .usage, "unknown command '\(word)'\(hint.isEmpty ? "; 'bearerd --help' lists them" : hint)")
    }
}
