// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration

/// `bearerd refresh`: gets a new access token through the store, which a running daemon watches, or else by
/// the daemon.
struct RefreshCommand: PlainIdentityCommand {
    static let name = "refresh"
    static let summary = "forces a refresh"

    static let needsProvider = false

    let operand: IdentityOperand

    func run(on chosen: ChosenIdentity) throws(CommandFailure) {
        try chosen.refresh()
        try Console.show("\(chosen.name): refreshed\n")
    }
}

extension ChosenIdentity {
    /// Gets a new access token, and waits as long as a caller does.
    func refresh() throws(CommandFailure) {
        _ = try ask(or: .init(resource: .refresh(identity: name)) { _ in "" }) {
            session throws(CommandFailure) in
            // A token for which a caller's was exchanged is in no store.
            try requireOwnToken()
            _ = try await session.refresh()
            return ""
        }
    }
}
