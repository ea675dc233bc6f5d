// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdEventLoop

/// `bearerd healthcheck`: the health check of container images without a shell.
struct HealthcheckCommand: Command {
    static let name = "healthcheck"
    static let summary = "asks a daemon for a sign of life"
    static let details = [
        "It needs of the configuration nothing but admin.listen: an error elsewhere in it is a warning, because the daemon "
            + "goes on with what it read before. The answer is there within two seconds."
    ]
    static let options = [ready]

    private static let ready = CommandOption(
        "ready", "and whether every identity that a route names has a token")
    /// The time limit of the request, so that the command takes two seconds at most.
    private static let limit = Duration.milliseconds(1500)

    private let resource: AdminResource
    private let file: ConfigurationFile

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        resource = arguments.has(Self.ready) ? .readiness : .health
        file = try ConfigurationFile(arguments)
    }

    func run() throws(CommandFailure) -> ExitStatus {
        let daemon = try file.daemonFile()
        daemon.warn()
        let obstacle = try CommandLoop.run { [resource] loop throws(CommandFailure) in
            try await DaemonProbe(daemon, loop: loop).obstacle(resource, within: Self.limit)
        }
        if let obstacle { throw CommandFailure(.unavailable, obstacle) }
        try Console.show(resource == .readiness ? "ready\n" : "ok\n")
        return .success
    }
}
