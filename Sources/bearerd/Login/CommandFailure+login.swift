// SPDX-License-Identifier: Apache-2.0

import OAuth
import OAuthRuntime

extension CommandFailure {
    /// The failure of a login.
    init(_ error: LoginError, of identity: String) {
        switch error {
        case .refused(let refusal): self.init(refusal, of: identity)
        case .expired: self = .loginExpired(of: identity)
        case .cancelled: self = .loginGivenUp(of: identity)
        case .failed(let failure): self.init(failure, of: identity)
        case .unstored(.outdated):
            self.init(
                .inputOutput,
                "\(identity): somebody has logged in or out since, and that counts; what this login brought is used by nobody, and "
                    + "stays at the provider until it ends there, where to revoke it could end the other session too"
            )
        case .unstored(let error): self.init(unstored: error.reason, error.exitStatus, of: identity)
        }
    }

    /// The failure of a login in a browser before it brought a code.
    ///
    /// - Parameter advice: what to do where a running daemon has the redirect's port; nil where it has not.
    init(_ failure: LoopbackLogin.Failure, of identity: String, advice: () -> String? = { nil }) {
        switch failure {
        case .address(let reason):
            let advice =
                advice().map { ": \($0)" }
                ?? "; 'bearerd doctor \(identity) --check redirect-uri' tells who is there"
            self.init(.unavailable, reason + advice)
        case .shortage(let reason): self.init(.systemRefuses, reason)
        case .request(let failure): self.init(failure, of: identity)
        case .expired: self = .loginExpired(of: identity)
        case .cancelled: self = .loginGivenUp(of: identity)
        case .foreign(let reason):
            self.init(
                .permission,
                "\(identity): no login: the answer is not believed: \(reason); the session is as it was")
        case .refused(let refusal): self.init(refusal, of: identity)
        }
    }

    private init(unstored reason: String, _ status: ExitStatus, of identity: String) {
        self.init(status, "\(identity): the login cannot be stored: \(reason)")
    }

    private static func loginExpired(of identity: String) -> CommandFailure {
        CommandFailure(.unavailable, "\(identity): nobody logged in in time; try again")
    }

    private static func loginGivenUp(of identity: String) -> CommandFailure {
        CommandFailure(.failure, "\(identity): the login was given up")
    }

    /// The failure if the person or the provider refused, or the provider cannot do it just now.
    init(_ refusal: AuthorizationRefusal, of identity: String) {
        self.init(
            refusal.isTransient ? .unavailable : .permission,
            "\(identity): \(refusal.sentence)\(refusal.advice)")
    }

    /// The failure of a request that the login needs.
    init(_ failure: TokenFailure, of identity: String) {
        guard !failure.isAboutStore else {
            var status = ExitStatus.inputOutput
            if case .store(let error) = failure.reason { status = error.exitStatus }
            self.init(unstored: failure.detail, status, of: identity)
            return
        }
        let status: ExitStatus =
            switch failure.kind {
            case .final where failure.reason == .badRedirectURI: .badData
            case .final, .doubtful: .permission
            case .misconfigured: .configuration
            case .transient: failure.reason == .badIDToken ? .badData : .unavailable
            }
        self.init(status, "\(identity): no login: \(failure.sentence)\(failure.command)")
    }
}
