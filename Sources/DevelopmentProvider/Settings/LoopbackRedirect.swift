// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages

/// A redirect URI on loopback, without the port, which a native app cannot know beforehand (RFC 8252 §7.3).
struct LoopbackRedirect: Equatable {
    private let host: String
    private let path: String
    private let query: String?

    /// Fails for anything but plain http to a loopback address.
    init?(_ uri: String) {
        guard let url = HTTPURL(uri), url.scheme == .http, url.isLoopback else { return nil }
        host = url.host
        path = url.path
        query = url.query
    }
}
