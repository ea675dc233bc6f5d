// SPDX-License-Identifier: Apache-2.0

/// An authorization server's "no" to a login (RFC 6749 §4.1.2.1, RFC 8628 §3.5).
public struct AuthorizationRefusal: Equatable, Sendable {
    /// nil for one that may not be shown.
    public let code: ErrorCode?
    /// The server's words for the person who logs in, at most 200 bytes, without what a terminal would obey.
    public let description: String?
    /// A page about it (`error_uri`), if its address may be shown.
    public let page: String?

    /// Whether the server takes such requests from us directly, and this one came with the browser (RFC 9126).
    package let wantsPushedRequest: Bool

    /// What makes us push requests, as the end of a sentence; empty where the server does not want it.
    package var advice: String {
        wantsPushedRequest ? "; the provider wants the request pushed to it: set par: true" : ""
    }

    init(
        code: ErrorCode?, description: String?, page: String? = nil, wantsPushedRequest: Bool = false
    ) {
        self.wantsPushedRequest = wantsPushedRequest
        self.code = code
        self.page = page.flatMap { ProviderWords.page($0) }
        // A redirect answers a request of the browser's, which holds no secret of ours.
        self.description = description.flatMap {
            ProviderWords($0, beside: code?.rawValue, hiding: [])?.text
        }
    }
}
