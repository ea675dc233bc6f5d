// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography
import BearerdJSONText

/// Importing sessions of other programs.
extension AuthSession {
    /// Begins a session with another program's refresh token; it needs a refresh before it is used.
    ///
    /// - Parameters:
    ///   - refreshToken: the other program's.
    ///   - idToken: the one that came with it, if it is known.
    ///   - scope: the granted scope; empty if it is not known.
    ///   - clientID: the client that the token was issued to, which alone may use it (RFC 6749 §6); nil for the client that
    ///     logs in here. The session is that client's until the next login.
    ///   - clientSecret: that client's secret; nil if it has none.
    ///   - person: whose session it is, if that is known.
    ///   - issuer: the server that issued the token, if that is known; another one than this session's could use it (RFC 9700 §4.4).
    /// - Returns: false, with nothing changed, if the session began with this token or holds it.
    /// - Throws: ``StoreError``; nothing has changed then, but a store that does not answer may still write it.
    @discardableResult
    public func take(
        _ refreshToken: Secret, idToken: Secret? = nil, scope: [String] = [], clientID: String? = nil,
        clientSecret: Secret? = nil, person: Person? = nil, issuer: String? = nil
    ) async throws(StoreError) -> Bool {
        guard !refreshToken.isEmpty else { throw .refused("the refresh token to begin with is empty") }
        if let issuer, let own = server.configuration.issuer, !issuer.hasSameBytes(as: own) {
            throw .refused("the refresh token is of \(issuer.onOneLine), and this session asks \(own)")
        }
        join()
        var imported = SessionImport(refreshToken: refreshToken)
        imported.idToken = idToken
        imported.scope = scope
        imported.clientID = clientID
        imported.clientSecret = clientSecret
        imported.person = person
        switch await core.perform(.importing(imported)) {
        case .unchanged: return false
        case .failed(let error), .unwritten(let error): throw error
        case .done, .outdone, .refused, .loggedOut, .registered, .revoked: return true
        }
    }

    /// Begins a session with a refresh token that another process was given for its own configuration of the identity.
    ///
    /// - Parameters:
    ///   - binding: the server and client that the process has configured (``ClientConfiguration/binding``); nil if not known.
    ///     Another server than this session's could use the token (RFC 9700 §4.4).
    ///   - refreshToken: as in ``take(_:idToken:scope:clientID:clientSecret:person:issuer:)``, and so are the rest.
    /// - Returns: false, with nothing changed, if the session began with this token or holds it.
    /// - Throws: ``LoginError``; the present session stays.
    package func take(
        configuredFor binding: String?, _ refreshToken: Secret, idToken: Secret?, scope: [String],
        clientID: String?, person: Person?
    ) async throws(LoginError) -> Bool {
        let ours = engine.configured.binding
        guard ours.hasSameBytes(as: binding ?? ours) else {
            throw .failed(
                TokenFailure(
                    .final, .superseded,
                    detail:
                        "the configuration that this refresh token was imported by names another issuer or client than the one "
                        + "in force; nothing was sent or changed: reload first, then import it again"))
        }
        do throws(StoreError) {
            return try await take(
                refreshToken, idToken: idToken, scope: scope, clientID: clientID, person: person)
        } catch {
            throw .unstored(error)
        }
    }
}
