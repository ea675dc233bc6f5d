// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography

/// A set of rules that a client keeps as a whole.
public enum SecurityProfile: String, CaseIterable, Sendable {
    /// FAPI 2.0 Security Profile: pushed requests, `iss` in every response, tokens that are bound to a key or a
    /// certificate, and few algorithms.
    case fapi2

    /// The algorithms of assertions, proofs and ID tokens (FAPI 2.0 §5.4.1).
    public var algorithms: Set<JWSAlgorithm> {
        switch self {
        case .fapi2: [.ps256, .es256, .edDSA]
        }
    }

    /// The permitted grants.
    package var grantTypes: Set<GrantType> {
        switch self {
        case .fapi2: [.authorizationCode, .clientCredentials, .refreshToken]
        }
    }
}
