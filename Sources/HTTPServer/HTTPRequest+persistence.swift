// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes

extension HTTPRequest {
    /// Whether the client wants to go on with its connection (RFC 9112 9.3).
    package var wantsPersistence: Bool {
        switch version {
        case .http11: !fields.containsToken("close", in: .connection)
        case .http10:
            fields.containsToken("keep-alive", in: .connection)
                && !fields.containsToken("close", in: .connection)
        }
    }
}
