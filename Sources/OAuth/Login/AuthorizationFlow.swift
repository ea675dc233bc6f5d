// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A login that is under way in a browser, and whose end arrives as a URL: at a custom scheme, in another process, or
/// pasted by a person.
///
/// ```swift
/// let flow = try await session.authorizationFlow(redirectURI: "com.example.app:/oauth2redirect")
/// open(flow.url)
/// // … and when the system hands a URL over:
/// let login = try await session.logIn(with: flow.response(to: url))
/// ```
public final class AuthorizationFlow: Sendable {
    /// What was asked; see ``AuthorizationRequest/encoded()`` to go on with it in another process.
    public let request: AuthorizationRequest
    private let isOver = Mutex(false)

    /// A flow that waits for the answer to `request`.
    public init(_ request: AuthorizationRequest) {
        self.request = request
    }

    /// Where to send the browser.
    public var url: String { request.url }

    /// Whether the answer has come, or nobody waits for it any more.
    public var isEnded: Bool { isOver.withLock { $0 } }

    /// Reads the answer in a URL that was opened.
    ///
    /// A URL that is for somebody else, or is not believed, leaves the flow as it is; an answer counts once.
    ///
    /// - Throws: ``AuthorizationResponseError``; no input traps.
    public func response(to url: String) throws(AuthorizationResponseError) -> AuthorizationResponse {
        let response: AuthorizationResponse
        do throws(AuthorizationResponseError) {
            response = try request.response(to: url)
        } catch {
            if error.endsLogin { cancel() }
            throw error
        }
        let isFirst = isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
        guard isFirst else { throw .alreadyAnswered }
        return response
    }

    /// No answer counts from now on.
    public func cancel() { isOver.withLock { $0 = true } }
}

extension AuthorizationRequest {
    /// Whether a provider could send a browser there: an absolute URI without a fragment (RFC 6749 §3.1.2).
    public static func canReturn(to redirectURI: String) -> Bool {
        RedirectAddress(redirectURI) != nil && redirectURI.utf8.allSatisfy { 0x21...0x7E ~= $0 }
            && !redirectURI.contains("#")
    }
}

extension AuthSession {
    /// Begins a login whose answer the program itself receives, as a URL.
    ///
    /// - Parameters:
    ///   - redirectURI: as registered; any scheme.
    ///   - scope: what this login asks for in place of the configured scope; nil for that.
    ///   - parameters: what this login says beside what all say, and in place of parameters of the same names.
    /// - Throws: ``TokenFailure`` as for ``authorizationRequest(redirectURI:scope:adding:)``.
    public func authorizationFlow(
        redirectURI: String, scope: [String]? = nil, adding parameters: [NamedValue] = []
    ) async throws(TokenFailure) -> AuthorizationFlow {
        AuthorizationFlow(
            try await authorizationRequest(redirectURI: redirectURI, scope: scope, adding: parameters))
    }

    /// Exchanges the code of an authorization response for tokens, and makes them the session.
    ///
    /// - Throws: ``LoginError``, for a refusal too; the session that there was goes on.
    @discardableResult
    public func logIn(with response: AuthorizationResponse) async throws(LoginError) -> Login {
        switch response {
        case .granted(let code): return try await logIn(with: code)
        case .refused(let refusal): throw .refused(refusal)
        }
    }
}
