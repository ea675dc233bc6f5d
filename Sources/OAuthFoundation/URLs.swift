// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import OAuth

extension URL {
    /// The same URL; nil for a Unix socket, which has none.
    public init?(_ url: HTTPURL) {
        guard url.scheme != .unix else { return nil }
        self.init(string: url.description)
    }
}

extension HTTPURL {
    /// The same URL; nil for anything but an absolute `http` or `https` URL without a user and a fragment.
    public init?(_ url: URL) {
        self.init(url.absoluteString)
        guard scheme != .unix else { return nil }
    }
}

extension AuthorizationRequest {
    /// The URL to open in the browser, as a `URL`.
    public var browserURL: URL? { URL(string: url) }
}

extension AuthorizationFlow {
    /// The URL to open in the browser, as a `URL`.
    public var browserURL: URL? { URL(string: url) }

    /// Reads the response in a URL that was opened.
    ///
    /// - Throws: `AuthorizationResponseError`; no input traps.
    public func response(to url: URL) throws(AuthorizationResponseError) -> AuthorizationResponse {
        try response(to: url.absoluteString)
    }
}

extension EndSessionRequest {
    /// The URL for a browser, as a `URL`.
    public var browserURL: URL? { URL(string: url) }
}

extension AuthSession {
    /// Begins a login whose response the program receives as a URL.
    ///
    /// - Throws: `TokenFailure` as for the one that takes a text.
    public func authorizationFlow(
        redirectURI: URL, scope: [String]? = nil, adding parameters: [NamedValue] = []
    ) async throws(TokenFailure) -> AuthorizationFlow {
        try await authorizationFlow(
            redirectURI: redirectURI.absoluteString, scope: scope, adding: parameters)
    }
}
