// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdSystem

/// `bearerd completion`: prints the completion script of a shell.
struct CompletionCommand: Command {
    static let name = "completion"
    static let summary = "prints a completion script for a shell"
    static let details = [
        "For bash: source <(bearerd completion bash). For zsh: save it as _bearerd in a directory of $fpath. For fish: "
            + "save it as ~/.config/fish/completions/bearerd.fish."
    ]
    static let operand: String? = CompletionScript.Shell.allCases.map(\.rawValue).joined(separator: "|")

    private let catalog: CommandCatalog
    private let file: String?
    /// The shell; nil to print the names of identities, for which the scripts themselves ask.
    private let shell: CompletionScript.Shell?

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        catalog = arguments.catalog
        let word = arguments.operand ?? ""
        shell = CompletionScript.Shell(rawValue: word)
        guard shell != nil || word == CompletionScript.identities else {
            throw CommandFailure(
                .usage, "for which shell? \(Self.operand?.replacing("|", with: ", ") ?? "")")
        }
        file = try shell == nil ? ConfigurationFile(arguments).path : nil
    }

    func run() throws(CommandFailure) -> ExitStatus {
        if let shell {
            try Console.show(CompletionScript(catalog.commands).text(for: shell))
        } else if let file {
            // Whoever types has no use for what is wrong with the file.
            let report = ConfigurationReport(path: file, environment: CurrentProcess.environment)
            try Console.show((report.configuration?.identities ?? []).map { "\($0.name)\n" }.joined())
        }
        return .success
    }
}
