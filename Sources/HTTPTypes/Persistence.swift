// SPDX-License-Identifier: Apache-2.0

extension HTTPResponse {
    /// Whether the sender lets the connection live on after this response (RFC 9112 §9.3).
    ///
    /// A body that ends with the connection says otherwise, whatever the fields say.
    @inlinable package var isPersistent: Bool {
        if version == .http11, !fields.has(.connection) { return true }
        return fields.isPersistent(version)
    }
}

extension HTTPFields {
    @usableFromInline package func isPersistent(_ version: HTTPVersion) -> Bool {
        switch version {
        case .http11: !containsToken("close", in: .connection)
        case .http10: containsToken("keep-alive", in: .connection) && !containsToken("close", in: .connection)
        }
    }
}
