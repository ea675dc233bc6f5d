// SPDX-License-Identifier: Apache-2.0

extension HTTPFields {
    /// Whether the sender of a message in that version lets the connection live on after it (RFC 9112 §9.3).
    func isPersistent(_ version: HTTPVersion) -> Bool {
        switch version {
        case .http11: !containsToken("close", in: .connection)
        case .http10: containsToken("keep-alive", in: .connection) && !containsToken("close", in: .connection)
        }
    }
}
