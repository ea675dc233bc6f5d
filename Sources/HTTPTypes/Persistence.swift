// SPDX-License-Identifier: Apache-2.0

extension HTTPRequest {
    /// Whether the sender lets the connection live on after the response (RFC 9112 §9.3).
    package var isPersistent: Bool { fields.isPersistent(version) }
}

extension HTTPResponse {
    /// Whether the sender lets the connection live on after this response (RFC 9112 §9.3).
    ///
    /// A body that ends with the connection says otherwise, whatever the fields say.
    package var isPersistent: Bool { fields.isPersistent(version) }
}

extension HTTPFields {
    fileprivate func isPersistent(_ version: HTTPVersion) -> Bool {
        switch version {
        case .http11: !containsToken("close", in: .connection)
        case .http10: containsToken("keep-alive", in: .connection) && !containsToken("close", in: .connection)
        }
    }
}
