// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPMessages

/// The server that ``PublishedKeys`` asks for keys.
protocol KeyPublisher: AnyObject {
    var clock: any SessionClock { get }
    /// The time limit of a request for keys.
    var timeLimit: Duration { get }

    /// The `jwks_uri`; nil if no keys are published.
    func keysURL() async throws(TokenFailure) -> HTTPURL?

    func fetchKeys(from url: HTTPURL) async throws(TokenFailure) -> JSONWebKeySet
}
