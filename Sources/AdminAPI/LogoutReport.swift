// SPDX-License-Identifier: Apache-2.0

package import BearerdJSON
package import OAuth

/// The result of a logout as JSON.
package struct LogoutReport: Sendable {
    package let revocation: LogoutOutcome.Step
    package let endSession: LogoutOutcome.Step
    /// The reason why the session is still in the store; nil if it is not.
    package let storeReason: String?
    /// The failures in sentences, each once.
    package let reasons: [String]

    package init(_ outcome: LogoutOutcome) {
        revocation = outcome.revocation
        endSession = outcome.endSession
        storeReason = outcome.storeFailure?.reason
        reasons = outcome.failures.map(\.sentence).reduce(into: []) { reasons, sentence in
            if !reasons.contains(sentence) { reasons.append(sentence) }
        }
    }

    package init?(_ json: JSONValue) {
        func step(_ member: AdminMember) -> LogoutOutcome.Step? {
            json[member]?.string.flatMap(LogoutOutcome.Step.init(rawValue:))
        }
        guard let revocation = step(.revocation), let endSession = step(.endSession) else { return nil }
        self.revocation = revocation
        self.endSession = endSession
        storeReason = json[.store]?.string
        reasons = json.strings(.reasons)
    }

    /// `{"revocation":"requested","end_session":"not_supported","reasons":[]}`, with `store` where that failed.
    package var json: JSONValue {
        JSONValue(admin: [
            .revocation: .string(revocation.rawValue), .endSession: .string(endSession.rawValue),
            .store: storeReason.map(JSONValue.string), .reasons: .array(reasons.map(JSONValue.string)),
        ])
    }
}
