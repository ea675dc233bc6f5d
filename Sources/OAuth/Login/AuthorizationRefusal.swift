// SPDX-License-Identifier: Apache-2.0

/// An error response to a login (RFC 6749 §4.1.2.1, RFC 8628 §3.5).
public struct AuthorizationRefusal: Equatable, Sendable {
    /// `error`; nil if it may not be shown.
    public let code: ErrorCode?
    /// `error_description`: at most 200 bytes of printable ASCII.
    public let description: String?
    /// `error_uri`, if it may be shown.
    public let page: String?

    /// True if the server wants the request pushed (RFC 9126), and it was not.
    package let wantsPushedRequest: Bool

    /// True if the server cannot log anybody in just now, and has not refused (RFC 6749 §4.1.2.1).
    package var isTransient: Bool { code == .temporarilyUnavailable || code == .serverError }

    /// The advice to push requests, as the end of a sentence; empty if it would not help.
    package var advice: String {
        wantsPushedRequest ? "; the provider wants the request pushed to it: set par: true" : ""
    }

    init(
        code: ErrorCode?, description: String?, page: String? = nil, wantsPushedRequest: Bool = false
    ) {
        self.wantsPushedRequest = wantsPushedRequest
        self.code = code
        self.page = page.flatMap { ErrorDescription.page($0) }
        // The browser's request holds no secret of ours that the server could repeat.
        self.description = description.flatMap {
            ErrorDescription($0, beside: code?.rawValue, hiding: [])?.text
        }
    }
}
