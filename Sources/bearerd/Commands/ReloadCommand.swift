// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdEventLoop
import BearerdJSON
import BearerdSystem
import Glibc

/// `bearerd reload`: has the running daemon read its configuration again, and tells what became of that.
struct ReloadCommand: Command {
    static let name = "reload"
    static let summary = "has the daemon take its configuration over"
    static let details = [
        "A configuration with an error is refused, and so is a change that needs a restart: its errors are told, the exit "
            + "status is 78, and the configuration before it goes on. Of the file the command itself needs nothing but "
            + "admin.listen. A daemon there that runs by another file is left alone (78).",
        "Where no daemon answers there and $MAINPID is set, as systemd does for ExecReload=, that process gets SIGHUP; "
            + "what becomes of it is in the daemon's log then. Without it the exit status is 69.",
    ]

    private enum Outcome: Sendable {
        case taken(warnings: [String])
        case refused(lines: [String], CommandFailure)
        /// There is no admin listener, or nobody listens there.
        case nobody(String)
    }

    /// The longest time that a daemon which answers may take to read its files and bind new listeners.
    private static let longestReload: Duration = .seconds(30)

    private let file: ConfigurationFile

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        file = try ConfigurationFile(arguments)
    }

    func run() throws(CommandFailure) -> ExitStatus {
        let daemon = try file.daemonFile()
        let outcome = try CommandLoop.run { loop throws(CommandFailure) in
            try await Self.ask(daemon, loop)
        }
        switch outcome {
        case .taken(let warnings):
            for warning in warnings { Console.remark(warning) }
            try Console.show("the configuration is in force\n")
        case .refused(let lines, let failure):
            for line in lines { Console.remark(line) }
            throw failure
        case .nobody(let reason): try signal(because: reason)
        }
        return .success
    }

    private static func ask(
        _ daemon: DaemonFile, _ loop: EventLoop
    ) async throws(CommandFailure) -> Outcome {
        guard let client = AdminClient(daemon.admin, listen: daemon.listen, loop: loop) else {
            return .nobody(AdminClient.nowhere(daemon.admin))
        }
        // A process answers there within seconds, if there is one; a reload may take longer.
        switch try await client.daemon(of: daemon.report.file) {
        case .nobody: return .nobody(client.nobody)
        case .own: break
        case .anothers(_, let other):
            let reason = client.notOurs(other, for: daemon.report.file).message
            return .refused(lines: [], CommandFailure(.configuration, "nothing was reloaded: \(reason)"))
        case .fileless(let failure), .stranger(let failure): throw failure
        }
        switch try await client.post(.reload, timeLimit: longestReload) {
        case .notRunning: return .nobody(client.nobody)
        case .answered(200, let body):
            guard let json = try? JSONValue(parsing: body), json.object != nil else {
                throw client.stranger("does not tell what became of the configuration")
            }
            return .taken(warnings: json["warnings"]?.array?.compactMap(\.string) ?? [])
        case .answered(let status, let body): return refusal(status, body, of: client)
        }
    }

    private static func refusal(_ status: Int, _ body: [UInt8], of client: AdminClient) -> Outcome {
        let problem = AdminProblem(status: status, reading: body)
        switch problem.code {
        case .configInvalid?:
            let faults = (try? JSONValue(parsing: body))?["errors"]?.array ?? []
            let lines = faults.compactMap { ConfigurationFault($0) }.map {
                "\($0.place): error: \($0.sentence)"
            }
            let words =
                lines.isEmpty
                ? problem.detail : "refused; the old configuration is in force"
            return .refused(lines: lines, CommandFailure(.configuration, words))
        case .restartNeeded?: return .refused(lines: [], CommandFailure(.configuration, problem.detail))
        default: return .refused(lines: [], client.refusal(status, body, of: "the daemon"))
        }
    }

    /// Tells the process that the service manager names, where the admin listener could not be asked.
    private func signal(because reason: String) throws(CommandFailure) {
        guard let text = CurrentProcess.environment("MAINPID"), !text.isEmpty else {
            throw CommandFailure(.unavailable, reason)
        }
        guard let process = Int32(text), process > 1 else {
            throw CommandFailure(.usage, "MAINPID: '\(text)' is not the number of a process")
        }
        guard kill(process, SIGHUP) == 0 else {
            throw CommandFailure(
                errno == EPERM ? .permission : .unavailable,
                "\(reason); SIGHUP to $MAINPID, \(process): \(SystemError.text(of: errno))")
        }
        try Console.show(
            "process \(process) got SIGHUP; its log tells what becomes of it (\(reason))\n")
    }
}
