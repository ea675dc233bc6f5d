// SPDX-License-Identifier: Apache-2.0

/// An authorization server's "no" to a login (RFC 6749 §4.1.2.1, RFC 8628 §3.5).
public struct AuthorizationRefusal: Equatable, Sendable {
    /// nil for one that may not be shown.
    public let code: ErrorCode?
    /// The server's words for the person who logs in, at most 200 bytes, without what a terminal would obey.
    public let description: String?
    /// A page about it (`error_uri`), if its address may be shown.
    public let page: String?

    init(code: ErrorCode?, description: String?, page: String? = nil) {
        self.code = code
        self.page = page.flatMap { ProviderWords.page($0) }
        // A redirect answers a request of the browser's, which holds no secret of ours.
        self.description = description.flatMap {
            ProviderWords($0, beside: code?.rawValue, hiding: [])?.text
        }
    }
}
