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
            throw CommandFailure(.configuration, AdminClient.nowhere)
        }
        self.client = client
    }

    /// The reason for which `resource` does not answer 200; nil if it does.
    func obstacle(_ resource: AdminResource, within limit: Duration) async -> String? {
        do throws(CommandFailure) {
            switch try await client.get(resource, timeLimit: limit) {
            case .notRunning: return client.nobody
            case .answered(200, let body):
                return Self.isOurs(body, resource)
                    ? nil : client.stranger("does not answer as bearerd does").message
            case .answered(let status, let body):
                return Self.reasons(in: body) ?? "the daemon answers \(status)\(Self.words(in: body))"
            }
        } catch {
            return error.message
        }
    }

    /// Returns true for what bearerd says where it is well.
    private static func isOurs(_ body: [UInt8], _ resource: AdminResource) -> Bool {
        switch resource {
        case .health: String(decoding: body, as: UTF8.self).split(whereSeparator: \.isNewline) == ["ok"]
        default: (try? JSONValue(parsing: body)).flatMap { ReadinessReport($0) } != nil
        }
    }

    /// The beginning of an answer that is not JSON.
    private static func words(in body: [UInt8]) -> String {
        let text = String(decoding: body.prefix(200), as: UTF8.self)
        return text.isEmpty || text.hasPrefix("{") ? "" : ": \(text)"
    }

    /// The reasons in a readiness document.
    private static func reasons(in body: [UInt8]) -> String? {
        let report = (try? JSONValue(parsing: body)).flatMap { ReadinessReport($0) }
        let words = report?.reasons.map(\.words) ?? []
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}
