// SPDX-License-Identifier: Apache-2.0

extension TokenFailure {
    /// The exact cause of a failure; people and programs read it as its ``code``.
    public enum Reason: Equatable, Sendable {
        // MARK: The server's answer

        /// The server's own `error` (RFC 6749 §5.2), known here or not.
        case refused(ErrorCode)
        /// A status, without an `error` that may be shown.
        case status(Int)
        /// No JSON object where there should be one.
        case emptyResponse
        /// A success without an access token.
        case noAccessToken
        /// An access token with bytes that no header may hold.
        case badAccessToken
        /// A `token_type` that is not accepted.
        case wrongTokenType
        /// A lifetime that is over when it begins.
        case expiredOnArrival
        /// The token once more that is about to end, from a file that nobody has renewed.
        case tokenUnchanged
        /// A command that should print a token failed, or printed something else.
        case commandFailed
        /// An answer to a device authorization request without its codes (RFC 8628 §3.2).
        case badResponse
        /// An ID token that is not believed.
        case badIDToken
        /// Signed claims whose signature does not verify.
        case badSignature
        /// The server's keys cannot be had.
        case noKeys
        /// An answer of the userinfo endpoint that holds no claims.
        case badUserinfo
        /// Userinfo without `sub`.
        case noSubject
        /// Userinfo about somebody else than the ID token.
        case subjectMismatch
        /// An answer to a registration that is no client.
        case badRegistration
        /// No metadata document.
        case noMetadata
        /// Metadata, or an authorization response, of another issuer.
        case issuerMismatch

        // MARK: No whole answer

        /// No connection: the request was not seen.
        case unreachable
        /// No TLS as configured, or a certificate that does not verify.
        case certificate
        /// No answer within the time limit: the server may have acted upon the request.
        case timedOut
        /// The connection ended before the answer did: the server may have acted upon the request.
        case interrupted
        /// An answer larger than allowed.
        case responseTooLarge
        /// The response is not HTTP.
        case notHTTP

        // MARK: Nothing was asked

        /// The configured issuer is no URL.
        case badIssuer
        /// Neither configuration nor metadata name the endpoint.
        case noEndpoint(Endpoint)
        /// The endpoint is plain HTTP off loopback, and that is not allowed.
        case insecureEndpoint
        /// There is no client yet.
        case notRegistered
        /// The configuration has no such credential.
        case noCredential(Credential)
        /// The credential cannot be read.
        case unreadableCredential(Credential)
        /// The credential was read, and is nothing that can be used.
        case badCredential(Credential)
        /// A parameter of a request has no name, or that of a built-in one.
        case badParameter
        /// No proof of possession can be made.
        case noProof
        /// No redirect can be awaited at the address.
        case badRedirectURI
        /// There is no such identity.
        case noIdentity
        /// The store failed.
        case store(StoreError)
        /// The task that waited was cancelled.
        case cancelled
        /// Somebody has logged in or out meanwhile.
        case superseded

        /// A server's refusal: its `error`, if that counts, else its status.
        init(_ error: ErrorCode?, status: Int) {
            self = error.flatMap { $0.counts(withStatus: status) ? .refused($0) : nil } ?? .status(status)
        }
    }
}
