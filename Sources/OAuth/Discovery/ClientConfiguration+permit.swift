// SPDX-License-Identifier: Apache-2.0

import HTTPMessages

extension ClientConfiguration {
    /// Lets `url` through if credentials may be sent there.
    ///
    /// - Throws: ``TokenFailure`` of kind misconfigured for plain HTTP off loopback, unless that is allowed.
    func permit(_ url: HTTPURL) throws(TokenFailure) {
        let isLocal = connectsToLoopback ?? url.isLoopback
        guard url.scheme == .https || url.scheme == .unix || isLocal || allowsInsecureProvider else {
            throw TokenFailure(
                .misconfigured, .insecureEndpoint,
                detail: "\(url.origin) is plain http; see allow_insecure_provider")
        }
    }
}
