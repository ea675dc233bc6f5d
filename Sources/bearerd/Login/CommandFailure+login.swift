// SPDX-License-Identifier: Apache-2.0

import OAuth

extension CommandFailure {
    /// Why a login came to nothing.
    init(_ error: LoginError, of identity: String) {
        switch error {
        case .refused(let refusal): self.init(refusal, of: identity)
        case .expired: self.init(.unavailable, "\(identity): nobody logged in in time; try again")
        case .failed(let failure): self.init(failure, of: identity)
        case .unstored(let error):
            self.init(.inputOutput, "\(identity): the login cannot be stored: \(error.reason)")
        }
    }

    /// The person, or the provider, said no.
    init(_ refusal: AuthorizationRefusal, of identity: String) {
        let code = refusal.code?.rawValue ?? "an error that cannot be shown"
        let words = refusal.description.map { ": \($0)" } ?? ""
        self.init(.permission, "\(identity): the login was refused: \(code)\(words)")
    }

    /// What a login needs did not come.
    init(_ failure: TokenFailure, of identity: String) {
        guard !failure.isAboutStore else {
            self.init(.inputOutput, "\(identity): the login could not be stored: \(failure.detail)")
            return
        }
        let status: ExitStatus =
            switch failure.kind {
            case .final, .doubtful: .permission
            case .misconfigured: .configuration
            case .transient: failure.reason == .badIDToken ? .badData : .unavailable
            }
        self.init(status, "\(identity): no login: \(failure.sentence)")
    }
}
