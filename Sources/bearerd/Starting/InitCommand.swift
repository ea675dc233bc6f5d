// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdSystem
import BearerdTokenStore

/// `bearerd init`: writes the first configuration, and looks whether it works.
struct InitCommand: Command {
    static let name = "init"
    static let summary = "asks for what the first configuration needs, writes it, and checks it"
    static let details = [
        "It asks on a terminal for what no option tells, writes a file with comments (mode 0600; 0640 with the group of the "
            + "directory where root writes into /etc/bearerd), and runs 'check' and 'doctor', whose exit status is its own. A "
            + "file that is there is left as it is (73); an option that is missing without a terminal is an error of usage.",
        "Example: bearerd init --upstream https://api.example.com --issuer https://sso.example.com/realms/demo "
            + "--client-id app --client-secret-file client_secret",
    ]
    static let options = StarterAnswer.allCases.map(\.option) + [StarterConfiguration.login]

    /// The directory for sessions beside the file, where the usual one is taken.
    private static let ownStore = "sessions"

    private let path: String
    private let starter: StarterConfiguration
    private let catalog: CommandCatalog

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        path = arguments.value(.config) ?? ConfigurationFile.named ?? "config.yaml"
        try Self.requireAbsence(of: path)
        starter = StarterConfiguration(arguments)
        catalog = arguments.catalog
        let isAsked = StarterDialogue.isPossible
        if let missing = starter.missing.first, !isAsked {
            throw CommandFailure(
                .usage, "\(starter.complaint(of: missing)); there is no terminal to ask at")
        }
    }

    func run() throws(CommandFailure) -> ExitStatus {
        var starter = starter
        let placement = FilePlacement(of: path)
        if starter.missing.isEmpty {
            if let file = starter.answers[.clientSecretFile] {
                starter.answers[.clientSecretFile] = placement.spelled(fromHere: file)
            }
        } else {
            try StarterDialogue(placement: placement).complete(&starter)
        }
        // The file is judged where it will be: relative paths are in its directory.
        let (configuration, _) = try StarterConfiguration.read(
            placement.here(starter).file, of: Self.name, operand: nil)
        if let usual = configuration.store.directory,
            StoreDirectory.holdsSession(of: StarterConfiguration.identity, in: usual)
        {
            starter.storeDirectory = Self.ownStore
            Console.remark(
                "\(usual) has a session of another configuration, which a login here would replace: this one keeps its own in "
                    + "\(placement.opened(Self.ownStore)) (store.directory)")
        }
        try placement.write(starter.file)
        try Console.show("wrote \(path)\n\n")
        let words = ["--config", path]
        _ = try CheckCommand(
            ParsedArguments(words, options: CheckCommand.allOptions, operand: nil, catalog: catalog)
        ).run()
        try Console.show("\n")
        return try DoctorCommand(
            ParsedArguments(words, options: DoctorCommand.allOptions, operand: nil, catalog: catalog)
        ).run()
    }

    /// Before anybody is asked anything, and options are judged.
    private static func requireAbsence(of path: String) throws(CommandFailure) {
        let status: FileStatus?
        do throws(SystemError) {
            status = try FileSystem.status(of: path, followingLink: false)
        } catch {
            throw CommandFailure(.cannotCreate, "\(path): \(SystemError.text(of: error.code))")
        }
        guard status == nil else {
            throw CommandFailure(
                .cannotCreate,
                "\(path) is there already and stays as it is; move it away, or name another file with -c")
        }
    }
}
