// SPDX-License-Identifier: Apache-2.0

package import JSON
package import OAuth

/// The JSON that tells what became of a logout.
package struct LogoutReport: Sendable {
    package let revocation: LogoutOutcome.Step
    package let endSession: LogoutOutcome.Step
    /// Why something failed, a sentence each.
    package let reasons: [String]

    private enum Member: String {
        case revocation
        case endSession = "end_session"
        case reasons
    }

    package init(_ outcome: LogoutOutcome) {
        revocation = outcome.revocation
        endSession = outcome.endSession
        reasons = outcome.failures.map(\.sentence)
    }

    /// Reads what ``json`` wrote.
    package init?(_ json: JSONValue) {
        func step(_ member: Member) -> LogoutOutcome.Step? {
            json[member.rawValue]?.string.flatMap(LogoutOutcome.Step.init(rawValue:))
        }
        guard let revocation = step(.revocation), let endSession = step(.endSession) else { return nil }
        self.revocation = revocation
        self.endSession = endSession
        reasons = json[Member.reasons.rawValue]?.array?.compactMap(\.string) ?? []
    }

    /// `{"revocation":"requested","end_session":"not_supported","reasons":[]}`.
    package var json: JSONValue {
        [
            Member.revocation.rawValue: .string(revocation.rawValue),
            Member.endSession.rawValue: .string(endSession.rawValue),
            Member.reasons.rawValue: .array(reasons.map(JSONValue.string)),
        ]
    }
}
