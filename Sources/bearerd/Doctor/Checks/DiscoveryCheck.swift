// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import OAuth

/// `discovery`: the provider publishes metadata for the configured issuer.
enum DiscoveryCheck: IdentityCheck {
    static let id = CheckID.discovery
    static let needs = [CheckID.tls]

    static func look(at identity: ExaminedIdentity, of subject: DoctorSubject) async -> Finding {
        guard identity.isDiscovered else { return .skip("the endpoints are given by hand") }
        switch await identity.discovered() {
        case .success(let metadata): return .ok("issuer \(metadata.issuer), as configured")
        case .failure(let failure):
            return .fail(
                failure.sentence,
                fix: failure.isOfProvider
                    ? ExaminedIdentity.providerMend
                    : "\(identity.key("issuer")); bearerd discover ISSUER shows what is there")
        }
    }
}

extension TokenFailure {
    /// True where the provider is reached, and may answer better later.
    fileprivate var isOfProvider: Bool {
        switch reason {
        case .status(let status): status >= 500 || status == 429
        case .timedOut: true
        default: false
        }
    }
}
