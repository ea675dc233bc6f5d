// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdEventLoop
import BearerdJSON
import BearerdSystem
import OAuth

/// `bearerd status`: prints the daemon's status, or else the store's.
struct StatusCommand: Command {
    static let name = "status"
    static let summary = "tells whether a daemon runs, and each identity's state, expiry and last error"
    static let details = [
        "The first line tells whether a daemon runs, and since when; without one the rest is what the store holds. A "
            + "reload that was refused, workers that stand still and routes that fail follow where there are any."
    ]
    static let options = [json]

    private static let json = CommandOption("json", "as JSON, like GET /api/status")

    private let file: ConfigurationFile
    private let isJSON: Bool

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        file = try ConfigurationFile(arguments)
        isJSON = arguments.has(Self.json)
    }

    func run() throws(CommandFailure) -> ExitStatus {
        let daemon = try file.daemonFile()
        let (document, status) = try CommandLoop.run { loop throws(CommandFailure) in
            if let told = try await AdminClient(daemon.admin, loop: loop)?.told() {
                daemon.warn()
                return told
            }
            let stored = try await storedStatus(try file.usable(daemon.report), loop)
            return (stored.json, stored)
        }
        guard !isJSON else {
            try Console.show(document.line)
            return .success
        }
        try Console.show(
            StatusReport(
                status, at: WallTime(sinceEpoch: WallClock.sinceEpoch), admin: daemon.admin?.listen,
                listen: daemon.listen, file: daemon.report.file
            ).text)
        return .success
    }

    private func storedStatus(
        _ configuration: Configuration, _ loop: EventLoop
    ) async throws(CommandFailure) -> StatusDocument {
        guard configuration.store.isShared else {
            let reason =
                AdminClient.obstacle(to: configuration.admin?.listen)
                ?? "no daemon answers at admin.listen; \(DaemonElsewhere.advice(listening: configuration.listen))"
            throw CommandFailure(.permission, "the store is in memory, and \(reason)")
        }
        if let problem = configuration.store.strangersProblem ?? configuration.store.hiddenSessions {
            Console.remark(problem)
        }
        let store = ExaminedStore(configuration, loop: loop, onTrouble: Console.remark)
        try await store.probe()
        var statuses: [SessionStatus] = []
        for identity in configuration.identities {
            let stored = try await store.session(of: identity.name)
            let wall = WallTime(sinceEpoch: WallClock.sinceEpoch)
            let tokens = identity.clients(for: configuration.routes).map { client in
                (client, SessionStatus(of: stored, asking: client, at: .now, wall))
            }
            statuses.append(SessionStatus(of: tokens))
        }
        return StatusDocument(
            version: Version.text, uptime: nil, identities: statuses, routes: configuration.routeStatuses,
            requests: nil)
    }
}
