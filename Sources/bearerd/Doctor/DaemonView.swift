// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdEventLoop
import BearerdHTTPMessages
import OAuth

/// The running daemon as it tells of itself, asked once.
enum DaemonView: Sendable {
    /// There is no admin listener that could be asked, for a reason.
    case unasked(String)
    /// Nobody listens there.
    case nobody(ListenAddress)
    case running(StatusDocument, ListenAddress)
    /// Something else answers there, or we are refused.
    case failed(CommandFailure)

    /// How long a daemon may take that is to take over what `--live` has brought.
    private static let adoption = Duration.seconds(3)

    /// Asks the daemon.
    ///
    /// - Parameter renewed: identities with a new token in the store, which the daemon has within a second.
    init(_ admin: AdminConfiguration?, renewed: Set<String> = [], loop: EventLoop) async {
        guard let admin, let client = AdminClient(admin, loop: loop) else {
            self = .unasked(AdminClient.nowhere(admin))
            return
        }
        let deadline = ContinuousClock.now + Self.adoption
        do throws(CommandFailure) {
            while true {
                guard let status = try await client.status() else {
                    self = .nobody(admin.listen)
                    return
                }
                self = .running(status, admin.listen)
                let late = status.identities.contains { renewed.contains($0.name) && $0.state != .authorized }
                guard late, ContinuousClock.now < deadline else { return }
                await loop.pause(for: .milliseconds(100))
            }
        } catch {
            self = .failed(error)
        }
    }

    /// The daemon's status; nil if none runs.
    var status: StatusDocument? {
        if case .running(let status, _) = self { status } else { nil }
    }
}
