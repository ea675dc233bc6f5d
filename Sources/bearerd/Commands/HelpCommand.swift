// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration

/// `bearerd help`: describes bearerd or one of its commands.
struct HelpCommand: Command {
    static let name = "help"
    static let summary = "tells what a command does, and its options"
    static let isAboutAll = true
    static let operand: String? = "COMMAND"
    static let options = [manual]
    static let commonOptions = [CommandOption.help]

    private static let manual = CommandOption("man", "as the source of a manual page: man(7)")

    private let catalog: CommandCatalog
    private let command: (any Command.Type)?
    private let isManual: Bool
    /// True for the page about the file, bearerd.yaml(5), which is no command.
    private let isAboutConfiguration: Bool

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        catalog = arguments.catalog
        isManual = arguments.has(Self.manual)
        isAboutConfiguration = isManual && arguments.operand == ManualPage.configurationName
        if let word = arguments.operand, !isAboutConfiguration {
            command = try catalog.command(word)
        } else {
            command = nil
        }
    }

    func run() throws(CommandFailure) -> ExitStatus {
        if isAboutConfiguration {
            let schema = ConfigurationSchema.json(version: Version.text)
            try Console.show(ManualPage(ofConfiguration: schema).text)
        } else if isManual {
            try Console.show(
                (command.map(ManualPage.init(of:)) ?? ManualPage(overviewOf: catalog.commands)).text)
        } else {
            try Console.show(
                command.map { HelpText.help(for: $0, of: catalog) } ?? HelpText.overview(of: catalog))
        }
        return .success
    }
}
