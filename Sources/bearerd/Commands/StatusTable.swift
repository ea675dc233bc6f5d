// SPDX-License-Identifier: Apache-2.0

import OAuth
import BearerdObservability

/// What is to know of identities as lines for a person.
struct StatusTable {
    private let identities: [IdentityStatus]

    init(_ identities: [IdentityStatus]) {
        self.identities = identities
    }

    /// A row for each identity, with its last error at the end.
    var text: TerminalText {
        guard !identities.isEmpty else { return TerminalText("no identities\n") }
        var table = TextTable(["IDENTITY", "STATE", "EXPIRES", "LAST REFRESH", "LAST ERROR"])
        for identity in identities {
            table.append([
                identity.name, identity.state.rawValue, Self.text(identity.expiresAt),
                Self.text(identity.lastRefresh), identity.lastError?.sentence ?? "-",
            ])
        }
        return table.coloured(column: 1) { IdentityState(rawValue: $0)?.colour }
    }

    private static func text(_ time: WallTime?) -> String {
        time.map { Timestamp.text(unixSeconds: $0.secondsSinceEpoch) } ?? "-"
    }
}

extension IdentityState {
    fileprivate var colour: TerminalText.Colour {
        switch self {
        case .authorized: .green
        case .refreshing, .empty: .yellow
        case .loginRequired, .misconfigured, .authorizationError, .unavailable: .red
        }
    }
}
