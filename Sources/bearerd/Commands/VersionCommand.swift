// SPDX-License-Identifier: Apache-2.0

/// `bearerd version`.
struct VersionCommand: Command {
    static let name = "version"
    static let summary = "tells the version"
    static let isAboutAll = true
    static let commonOptions = [CommandOption.help]

    init(_ arguments: ParsedArguments) {}

    func run() throws(CommandFailure) -> ExitStatus {
        try Console.show("bearerd \(Version.text)\n")
        return .success
    }
}
