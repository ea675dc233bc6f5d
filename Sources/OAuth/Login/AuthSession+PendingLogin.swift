// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Synchronization

/// Logins that wait in the store for another process.
extension AuthSession {
    /// Keeps a code in the store, for another process to exchange.
    ///
    /// - Throws: ``StoreError``.
    package func keep(_ code: AuthorizationCode) async throws(StoreError) {
        try await changePending { _ in PendingLogin(code: code) }
    }

    /// Keeps a request in the store, for another process that receives its response.
    ///
    /// - Throws: ``StoreError``.
    package func keep(_ request: AuthorizationRequest) async throws(StoreError) {
        let request = request.encoded()
        try await changePending { PendingLogin(code: $0.code, request: request) }
    }

    /// The request of this client that waits in the store for its response; nil if there is none.
    package func pendingRequest() async -> AuthorizationRequest? {
        await core.look()
        return session.pendingRequest.flatMap { AuthorizationRequest(decoding: $0) }
    }

    /// Logs in with the response to the request that waits in the store, and removes it before the response's code is sent.
    ///
    /// - Parameter url: the redirect URI with the response's parameters.
    /// - Returns: nil if no request waits.
    /// - Throws: ``LoginError``; the present session stays, and a URL that is no response leaves the request waiting, unless it
    ///   is of another issuer (``AuthorizationResponseError/endsLogin``).
    package func logIn(withResponse url: String) async throws(LoginError) -> Login? {
        if let refusal = await storeRefusal() { throw .unstored(refusal) }
        guard let request = await pendingRequest() else { return nil }
        let response: AuthorizationResponse
        do throws(AuthorizationResponseError) {
            response = try request.response(to: url)
        } catch {
            guard error.endsLogin else {
                throw .failed(
                    TokenFailure(.final, .badRedirectURI, detail: "this URL is no response: \(error.clause)"))
            }
            try? await forget(PendingLogin(request: request.encoded()))
            throw .failed(
                TokenFailure(.final, .issuerMismatch, detail: "the answer is not believed: \(error.clause)"))
        }
        return try await complete(PendingLogin(request: request.encoded())) { () async throws(LoginError) in
            try await logIn(with: response)
        }
    }

    /// The code of this client that waits in the store; nil if there is none.
    package func pendingCode() async -> AuthorizationCode? {
        await core.look()
        return session.pendingCode
    }

    /// Logs in with the code that waits in the store, and removes it before it is sent: a code is for one use (RFC 6749 §4.1.2).
    ///
    /// A failure before the code was sent, or by an answer that is not about it, puts it back; one that may have used it up does
    /// not, nor does a process that is killed meanwhile.
    ///
    /// - Returns: nil if no code waits, or another process has just taken it.
    /// - Throws: ``LoginError``; the present session stays.
    package func logInWithPendingCode() async throws(LoginError) -> Login? {
        if let refusal = await storeRefusal() { throw .unstored(refusal) }
        guard let code = await pendingCode() else { return nil }
        return try await complete(PendingLogin(code: code)) { () async throws(LoginError) in
            try await logIn(with: code)
        }
    }

    /// Takes a login for oneself, finishes it, and puts it back where its code is unused then.
    ///
    /// - Returns: nil if it is not there any more.
    private func complete(
        _ login: PendingLogin, by logIn: () async throws(LoginError) -> Login
    ) async throws(LoginError) -> Login? {
        guard let generation = try await take(login) else { return nil }
        do throws(LoginError) {
            return try await logIn()
        } catch {
            if error.leavesCodeUnused { await putBack(login, besideSessionAfter: generation) }
            throw error
        }
    }

    /// Takes what waits in the store for oneself, under its lock.
    ///
    /// - Returns: the generation of the session that it was taken from; nil if it was not there.
    private func take(_ login: PendingLogin) async throws(LoginError) -> Int? {
        let taken = TakenLogin()
        do throws(StoreError) {
            try await changePending { pending in
                var pending = pending
                let isThere = pending.remove(login)
                taken.generation.withLock { $0 = isThere ? pending.generation : nil }
                return pending
            }
        } catch {
            // A login is not lost because nothing can be written: it is stored later, and two could take it meanwhile.
            guard case .unavailable = error, taken.generation.withLock({ $0 }) != nil else {
                throw .unstored(error)
            }
        }
        return taken.generation.withLock { $0 }
    }

    /// Puts back what was taken and is of use, unless somebody has changed the session since, by a logout for example.
    ///
    /// - Parameter generation: of the session that it was taken from; taking it has made the next one.
    private func putBack(_ login: PendingLogin, besideSessionAfter generation: Int) async {
        try? await changePending { pending in
            guard pending.generation <= generation + 1 else { return pending }
            return PendingLogin(code: pending.code ?? login.code, request: pending.request ?? login.request)
        }
    }

    /// Removes what waits in the store, unless something newer has taken its place.
    private func forget(_ login: PendingLogin) async throws(StoreError) {
        try await changePending { pending in
            var pending = pending
            _ = pending.remove(login)
            return pending
        }
    }

    /// Changes the code and the request that wait in the store.
    private func changePending(
        _ change: @escaping @Sendable (PendingLogin) -> PendingLogin
    ) async throws(StoreError) {
        join()
        if case .failed(let error) = await core.perform(.keeping(change)) { throw error }
    }
}

extension PendingLogin {
    /// Removes what `login` has, unless a newer one has taken its place.
    ///
    /// - Returns: false if it is not there.
    fileprivate mutating func remove(_ login: PendingLogin) -> Bool {
        if let known = login.request {
            guard request?.matches(known) ?? false else { return false }
            request = nil
        }
        if let known = login.code {
            guard code?.verifier.matches(known.verifier) ?? false else { return false }
            code = nil
        }
        return true
    }
}

/// The generation of the session that a login was taken from; nil if it was not there.
private final class TakenLogin: Sendable {
    let generation = Mutex<Int?>(nil)
}
