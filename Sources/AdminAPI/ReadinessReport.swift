// SPDX-License-Identifier: Apache-2.0

package import BearerdJSON
package import OAuth

/// The reasons why requests cannot be served with a token now, if there are any.
package struct ReadinessReport: Equatable, Sendable {
    /// A reason not to be ready.
    package enum Reason: Equatable, Sendable {
        case draining
        case noToken(identity: String, state: SessionState)
    }

    package let reasons: [Reason]

    package init(reasons: [Reason]) { self.reasons = reasons }

    package var isReady: Bool { reasons.isEmpty }

    /// Reads ``json``; unknown reasons are left out.
    package init?(_ json: JSONValue) {
        guard let reasons = json[.reasons]?.array else { return nil }
        self.reasons = reasons.compactMap(Reason.init)
    }

    package var json: JSONValue {
        JSONValue(admin: [.ready: .bool(isReady), .reasons: .array(reasons.map(\.json))])
    }
}

extension ReadinessReport.Reason {
    private enum Word: String {
        case draining
        case noToken = "no_token"
    }

    fileprivate init?(_ json: JSONValue) {
        switch json[.reason]?.string.flatMap(Word.init(rawValue:)) {
        case .draining?: self = .draining
        case .noToken?:
            guard let identity = json[.identity]?.string,
                let state = json[.state]?.string.flatMap(SessionState.init(rawValue:))
            else { return nil }
            self = .noToken(identity: identity, state: state)
        case nil: return nil
        }
    }

    fileprivate var json: JSONValue {
        switch self {
        case .draining: JSONValue(admin: [.reason: .string(Word.draining.rawValue)])
        case .noToken(let identity, let state):
            JSONValue(admin: [
                .reason: .string(Word.noToken.rawValue), .identity: .string(identity),
                .state: .string(state.rawValue),
            ])
        }
    }

    /// A few words for people.
    package var words: String {
        switch self {
        case .draining: Word.draining.rawValue
        case .noToken(let identity, let state): "\(identity) is \(state.rawValue)"
        }
    }
}
