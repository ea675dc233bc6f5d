// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdEventLoop
import OAuth

/// `bearerd wait`: for entrypoints that start what needs the daemon.
struct WaitCommand: Command {
    static let name = "wait"
    static let summary = "blocks until a daemon is ready"
    static let details = [
        "It waits until /readyz answers 200: every identity that a route names has a token, and no drain has begun. Of the "
            + "configuration it needs nothing but admin.listen."
    ]
    static let options = [ready, timeout]

    private static let ready = CommandOption("ready", "as without it: there is nothing else to wait for")
    private static let timeout = CommandOption("timeout", value: "DURATION", "at most so long (30s)")
    /// The pause between two requests.
    private static let pause = Duration.milliseconds(100)

    private let file: ConfigurationFile
    private let limit: Duration

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        limit = try arguments.duration(Self.timeout) ?? .seconds(30)
        file = try ConfigurationFile(arguments)
    }

    func run() throws(CommandFailure) -> ExitStatus {
        let daemon = try file.daemonFile()
        daemon.warn()
        try CommandLoop.run { loop throws(CommandFailure) in
            let probe = try DaemonProbe(daemon, loop: loop)
            let deadline = ContinuousClock.now + limit
            var reason = "the daemon was not asked yet"
            while .now < deadline {
                let left = min(max(.milliseconds(1), deadline - .now), .seconds(5))
                guard let obstacle = await probe.obstacle(.readiness, within: left) else { return }
                reason = obstacle
                await loop.pause(for: min(Self.pause, max(.milliseconds(1), deadline - .now)))
            }
            throw CommandFailure(.unavailable, "not ready in time: \(reason)")
        }
        return .success
    }
}
