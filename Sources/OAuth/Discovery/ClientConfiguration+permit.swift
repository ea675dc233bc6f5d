// SPDX-License-Identifier: Apache-2.0

import HTTPMessages

extension ClientConfiguration {
    /// Throws if credentials may not be sent to `url`.
    ///
    /// - Throws: ``TokenFailure`` of kind misconfigured for plain HTTP off loopback, unless that is allowed.
    func permit(_ url: HTTPURL) throws(TokenFailure) {
        guard isPermitted(url) else {
            throw TokenFailure(
                .misconfigured, .insecureEndpoint,
                detail: "\(url.origin) is plain http; see allow_insecure_provider")
        }
    }

    /// Returns true if nobody can read along on the way to `url`, or that is allowed.
    func isPermitted(_ url: HTTPURL) -> Bool {
        let isLocal = connectsToLoopback ?? url.isLoopback
        return url.scheme == .https || url.scheme == .unix || isLocal || allowsInsecureProvider
    }
}
