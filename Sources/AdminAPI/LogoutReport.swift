// SPDX-License-Identifier: Apache-2.0

package import JSON
package import OAuth

/// The JSON that tells what became of a logout.
package struct LogoutReport: Sendable {
    package let revocation: LogoutOutcome.Step
    package let endSession: LogoutOutcome.Step
    /// Why the session is in the store still, if it is.
    package let storeReason: String?
    /// Why something failed, a sentence each.
    package let reasons: [String]

    private enum Member: String {
        case revocation
        case endSession = "end_session"
        case storeReason = "store"
        case reasons
    }

    package init(_ outcome: LogoutOutcome) {
        revocation = outcome.revocation
        endSession = outcome.endSession
        storeReason = outcome.storeFailure?.reason
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
        storeReason = json[Member.storeReason.rawValue]?.string
        reasons = json[Member.reasons.rawValue]?.array?.compactMap(\.string) ?? []
    }

    /// `{"revocation":"requested","end_session":"not_supported","reasons":[]}`, with `store` where that failed.
    package var json: JSONValue {
        var object = JSONObject()
        object[Member.revocation.rawValue] = .string(revocation.rawValue)
        object[Member.endSession.rawValue] = .string(endSession.rawValue)
        object[Member.storeReason.rawValue] = storeReason.map(JSONValue.string)
        object[Member.reasons.rawValue] = .array(reasons.map(JSONValue.string))
        return .object(object)
    }
}
