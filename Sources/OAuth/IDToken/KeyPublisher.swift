// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPMessages

/// Who publishes keys, as ``PublishedKeys`` asks for them.
protocol KeyPublisher: AnyObject {
    var clock: any SessionClock { get }
    /// How long an answer may take.
    var timeLimit: Duration { get }

    /// Where the keys are; nil if none are published.
    func keysURL() async throws(TokenFailure) -> HTTPURL?

    func fetchKeys(from url: HTTPURL) async throws(TokenFailure) -> JSONWebKeySet
}
