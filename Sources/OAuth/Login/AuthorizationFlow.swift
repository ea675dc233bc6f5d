// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography
import Synchronization

/// A login in a browser whose response the program receives as a URL: at a custom scheme, in another process, or pasted.
///
/// ```swift
/// let flow = try await session.authorizationFlow(redirectURI: "com.example.app:/oauth2redirect")
/// open(flow.url)
/// // … and when the system hands a URL over:
/// let login = try await session.logIn(with: flow.response(to: url))
/// ```
public final class AuthorizationFlow: Sendable {
    /// The request; ``AuthorizationRequest/encoded()`` hands it to another process.
    public let request: AuthorizationRequest
    private let isOver = Mutex(false)

    /// A flow that waits for the response to `request`.
    public init(_ request: AuthorizationRequest) {
        self.request = request
    }

    /// The URL to open in the browser.
    public var url: String { request.url }

    /// True once the response has come or the flow was cancelled.
    public var isEnded: Bool { isOver.withLock { $0 } }

    /// Reads the response in a URL that was opened.
    ///
    /// A URL of another login, or a forged one, leaves the flow as it is; a response counts once.
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
        guard isFirst else { throw .alreadyUsed }
        return response
    }

    /// Ends the flow; later responses do not count.
    public func cancel() { isOver.withLock { $0 = true } }
}

extension AuthorizationRequest {
    /// Returns true for an absolute URI without a fragment, which a redirect URI has to be (RFC 6749 §3.1.2); an `http` or
    /// `https` one needs a host.
    package static func canReturn(to redirectURI: String) -> Bool {
        NormalizedURI(redirectURI)?.hasHostIfWeb == true && redirectURI.utf8.allSatisfy { 0x21...0x7E ~= $0 }
            && !redirectURI.contains("#")
    }
}

extension AuthSession {
    /// Begins a login whose response the program receives as a URL.
    ///
    /// - Parameters:
    ///   - redirectURI: as registered; any scheme.
    ///   - scope: this login's scope; nil for the configured one.
    ///   - parameters: further parameters, in place of configured ones of the same names.
    ///   - state: what the response must repeat, in place of a value that is drawn; at least 22 random characters.
    ///   - nonce: what the ID token must repeat, likewise.
    /// - Throws: ``TokenFailure`` as for ``authorizationRequest(redirectURI:scope:adding:state:nonce:)``.
    public func authorizationFlow(
        redirectURI: String, scope: [String]? = nil, adding parameters: [NamedValue] = [],
        state: Secret? = nil, nonce: Secret? = nil
    ) async throws(TokenFailure) -> AuthorizationFlow {
        AuthorizationFlow(
            try await authorizationRequest(
                redirectURI: redirectURI, scope: scope, adding: parameters, state: state, nonce: nonce))
    }

    /// Exchanges the code of an authorization response for tokens, and makes them the session.
    ///
    /// - Throws: ``LoginError``, for a refusal too; the present session stays.
    @discardableResult
    public func logIn(with response: AuthorizationResponse) async throws(LoginError) -> Login {
        switch response {
        case .granted(let code): return try await logIn(with: code)
        case .refused(let refusal): throw .refused(refusal)
        }
    }
}
