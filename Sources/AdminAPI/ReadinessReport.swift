// SPDX-License-Identifier: Apache-2.0

internal import JSON
internal import OAuth

/// Whether requests can be served with a token now, and why not.
///
/// The name of an identity's state decides nothing: with an unexpired token a route is ready.
struct ReadinessReport: Equatable {
    /// Something that has to end first.
    enum Reason: Equatable {
        case draining
        case noToken(identity: String, state: IdentityState)
    }

    let reasons: [Reason]

    var isReady: Bool { reasons.isEmpty }

    /// Judges the identities that these routes name.
    init(routes: [AdminRoute], statuses: [IdentityStatus], isDraining: Bool, now: Instant) {
        let waiting = statuses.filter { status in
            routes.contains { $0.identity == status.name && !status.hasUsableToken(for: $0.target, at: now) }
        }
        reasons =
            (isDraining ? [.draining] : [])
            + waiting.map { .noToken(identity: $0.name, state: $0.state) }
    }

    /// The body of the answer.
    var json: JSONValue {
        ["ready": .bool(isReady), "reasons": .array(reasons.map(\.json))]
    }
}

extension ReadinessReport.Reason {
    fileprivate var json: JSONValue {
        switch self {
        case .draining: ["reason": "draining"]
        case .noToken(let identity, let state):
            ["reason": "no_token", "identity": .string(identity), "state": .string(state.rawValue)]
        }
    }
}
