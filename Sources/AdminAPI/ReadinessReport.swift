// SPDX-License-Identifier: Apache-2.0

package import JSON
package import OAuth

/// Whether requests can be served with a token now, and why not.
package struct ReadinessReport: Equatable, Sendable {
    /// Something that has to end first.
    package enum Reason: Equatable, Sendable {
        case draining
        case noToken(identity: String, state: IdentityState)
    }

    package let reasons: [Reason]

    package init(reasons: [Reason]) {
        self.reasons = reasons
    }

    package var isReady: Bool { reasons.isEmpty }

    /// Reads what ``json`` wrote; reasons that this version does not know are left out.
    package init?(_ json: JSONValue) {
        guard let reasons = json[AdminMember.reasons]?.array else { return nil }
        self.reasons = reasons.compactMap(Reason.init)
    }

    /// The body of the answer.
    package var json: JSONValue {
        [AdminMember.ready: .bool(isReady), AdminMember.reasons: .array(reasons.map(\.json))]
    }
}

extension ReadinessReport.Reason {
    private enum Word: String {
        case draining
        case noToken = "no_token"
    }

    fileprivate init?(_ json: JSONValue) {
        switch json[AdminMember.reason]?.string.flatMap(Word.init(rawValue:)) {
        case .draining?: self = .draining
        case .noToken?:
            guard let identity = json[AdminMember.identity]?.string,
                let state = json[AdminMember.state]?.string.flatMap(IdentityState.init(rawValue:))
            else { return nil }
            self = .noToken(identity: identity, state: state)
        case nil: return nil
        }
    }

    fileprivate var json: JSONValue {
        switch self {
        case .draining: [AdminMember.reason: .string(Word.draining.rawValue)]
        case .noToken(let identity, let state):
            [
                AdminMember.reason: .string(Word.noToken.rawValue), AdminMember.identity: .string(identity),
                AdminMember.state: .string(state.rawValue),
            ]
        }
    }

    /// A few words for a person.
    package var words: String {
        switch self {
        case .draining: Word.draining.rawValue
        case .noToken(let identity, let state): "\(identity) is \(state.rawValue)"
        }
    }
}
