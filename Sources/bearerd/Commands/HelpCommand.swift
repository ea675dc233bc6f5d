// SPDX-License-Identifier: Apache-2.0

/// `bearerd help`: of bearerd, or of one of its commands.
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

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        catalog = arguments.catalog
        if let word = arguments.operand { command = try catalog.command(word) } else { command = nil }
        isManual = arguments.has(Self.manual)
    }

    func run() throws(CommandFailure) -> ExitStatus {
        if isManual {
            try Console.show(
                (command.map(ManualPage.init(of:)) ?? ManualPage(overviewOf: catalog.commands)).text)
        } else {
            try Console.show(
                command.map { HelpText.help(for: $0, of: catalog) } ?? HelpText.overview(of: catalog))
        }
        return .success
    }
}
