// SPDX-License-Identifier: Apache-2.0

/// `bearerd run`.
struct RunCommand: Command {
    static let name = "run"
    static let summary = "serves until SIGTERM or SIGINT"

    private let file: ConfigurationFile

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        file = try ConfigurationFile(arguments)
    }

    func run() throws(CommandFailure) -> ExitStatus {
        DaemonProcess.holdSignals()
        let before = WatchedFiles.state(beforeReading: file.path)
        let (configuration, warnings) = try file.load()
        // A pipe can be read once alone.
        let source = before.map { ReadFile(path: file.path, before: $0) }
        return try DaemonProcess.serve(configuration, from: source, warnings: warnings)
    }
}
