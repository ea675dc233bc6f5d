// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdEventLoop
import BearerdJSON

/// Asks the daemon on an admin listener how it is.
struct DaemonProbe {
    private let client: AdminClient

    /// - Throws: a failure of configuration where there is no listener that could be asked.
    init(_ daemon: DaemonFile, loop: EventLoop) throws(CommandFailure) {
        guard let client = AdminClient(daemon.admin, listen: daemon.listen, loop: loop) else {
            throw CommandFailure(.configuration, AdminClient.nowhere(daemon.admin))
        }
        self.client = client
    }

    /// The reason for which `resource` does not answer 200; nil if it does.
    func obstacle(_ resource: AdminResource, within limit: Duration) async -> String? {
        let end = ContinuousClock.now + limit
        do throws(CommandFailure) {
            switch try await client.get(resource, timeLimit: limit) {
            case .notRunning: return client.nobody
            case .answered(200, let body):
                guard Self.words(in: body, resource) != nil else {
                    return client.stranger("does not answer as bearerd does").message
                }
                return await strangeness(within: max(end - .now, .milliseconds(1)))
            case .answered(let status, let body):
                guard let words = Self.words(in: body, resource) else {
                    return client.refusal(status, body, of: "the daemon").message
                }
                return words.isEmpty ? "the daemon answers \(status)" : words
            }
        } catch {
            return error.message
        }
    }

    /// The failure for a bearerd that is well, and is none of a file's; nil for any other, and for one that does not tell.
    ///
    /// Not for the daemon of another file: a file with `admin.listen` alone suffices to ask after one.
    private func strangeness(within limit: Duration) async -> String? {
        guard case .fileless(let failure)? = try? await client.daemon(of: nil, timeLimit: limit) else {
            return nil
        }
        return failure.message
    }

    /// The trouble that bearerd tells of itself, empty where it is well; nil for an answer that is not bearerd's.
    private static func words(in body: [UInt8], _ resource: AdminResource) -> String? {
        guard resource == .readiness else { return HealthReport(reading: body)?.trouble }
        let report = (try? JSONValue(parsing: body)).flatMap { ReadinessReport($0) }
        return report.map { $0.reasons.map(\.words).joined(separator: ", ") }
    }
}
