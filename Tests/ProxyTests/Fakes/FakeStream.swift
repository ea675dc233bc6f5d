// SPDX-License-Identifier: Apache-2.0

import HTTPExchange

/// A client's exchange of another kind: one stream of a connection that carries several at a time, and outlives each.
final class FakeStream: FakeClient {
    /// The connection is none of one stream's business.
    override func endAfterAnswer() {}
}
