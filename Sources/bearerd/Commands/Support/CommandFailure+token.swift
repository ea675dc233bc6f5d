// SPDX-License-Identifier: Apache-2.0

import OAuth

extension CommandFailure {
    /// The failure for an identity without a token, with the reason that its session knows.
    ///
    /// - Parameters:
    ///   - unanswered: the party that kept us waiting, in words.
    ///   - isOfSource: true if the token comes from a `source` in place of an authorization server.
    init(
        _ error: TokenError, of identity: SessionStatus, unanswered: String? = nil, isOfSource: Bool = false
    ) {
        if let trouble = identity.lastError, trouble.isAboutStore {
            self.init(
                trouble.storeError?.exitStatus ?? .inputOutput,
                "\(identity.name): the store: \(trouble.detail)")
            return
        }
        let reason = (unanswered ?? identity.lastError?.sentence).map { ": \($0)" } ?? ""
        switch error {
        case .loginRequired:
            let advice = LoginAdvice.text(for: identity.name)
            let words = reason.contains(advice) ? reason : "\(reason); \(advice)"
            self.init(.permission, "\(identity.name): somebody must log in\(words)")
        case .misconfigured where isOfSource:
            self.init(.configuration, "\(identity.name): no token\(reason)")
        case .unavailable where isOfSource || unanswered != nil:
            self.init(.unavailable, "\(identity.name): no token\(reason)")
        case .misconfigured:
            self.init(
                .configuration, "\(identity.name): the provider refuses this client or its request\(reason)")
        case .unavailable:
            self.init(.unavailable, "\(identity.name): no token from the provider\(reason)")
        case .storeUnavailable:
            self.init(.unavailable, "\(identity.name): the store of the sessions cannot be used\(reason)")
        case .cancelled, .stopped:
            self.init(.failure, "\(identity.name): interrupted")
        }
        code = identity.lastError.map(TroubleCode.init)
    }

    /// The failure of an action on an identity.
    init(
        _ failure: SessionFailure, of identity: SessionStatus, unanswered: String? = nil,
        isOfSource: Bool = false
    ) {
        switch failure {
        case .token(let error):
            self.init(error, of: identity, unanswered: unanswered, isOfSource: isOfSource)
        case .server(let error):
            self.init(.unavailable, "\(identity.name): \(error.sentence)\(error.command)")
        case .store(let error):
            self.init(error.exitStatus, "\(identity.name): the store: \(error.reason)")
        }
    }
}
