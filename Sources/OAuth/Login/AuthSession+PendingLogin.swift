// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Synchronization

/// Logins that wait in the store for another process.
extension AuthSession {
    /// Keeps a code in the store, for another process to exchange.
    ///
    /// - Throws: ``StoreError``.
    public func keep(_ code: AuthorizationCode) async throws(StoreError) {
        try await changePending { _ in PendingLogin(code: code) }
    }

    /// Keeps a request in the store, for another process that receives its response.
    ///
    /// - Throws: ``StoreError``.
    public func keep(_ request: AuthorizationRequest) async throws(StoreError) {
        let request = request.encoded()
        try await changePending { PendingLogin(code: $0.code, request: request) }
    }

    /// The request of this client that waits in the store for its response; nil if there is none.
    public func pendingRequest() async -> AuthorizationRequest? {
        await core.look()
        return session.pendingRequest.flatMap { AuthorizationRequest(decoding: $0) }
    }

    /// Logs in with the response to the request that waits in the store, and removes it before the response's code is sent.
    ///
    /// - Parameter url: the redirect URI with the response's parameters.
    /// - Returns: nil if no request waits.
    /// - Throws: ``LoginError``; the present session stays, and a URL that is no response leaves the request waiting, unless it
    ///   is of another issuer (``AuthorizationResponseError/endsLogin``).
    public func logIn(withAnswer url: String) async throws(LoginError) -> Login? {
        if let refusal = await storeRefusal() { throw .unstored(refusal) }
        guard let request = await pendingRequest() else { return nil }
        let response: AuthorizationResponse
        do throws(AuthorizationResponseError) {
            response = try request.response(to: url)
        } catch {
            guard error.endsLogin else {
                throw .failed(
                    TokenFailure(.final, .badRedirectURI, detail: "this URL is no answer: \(error.clause)"))
            }
            try? await forget(request)
            throw .failed(
                TokenFailure(.final, .issuerMismatch, detail: "the answer is not believed: \(error.clause)"))
        }
        let judged = request.encoded()
        let taken = try await take { pending in
            guard pending.request?.equals(judged) ?? false else { return false }
            pending.request = nil
            return true
        }
        guard let taken else { return nil }
        do throws(LoginError) {
            return try await logIn(with: response)
        } catch {
            if error.leavesCodeUnused {
                await putBack(PendingLogin(request: judged), besideSessionAfter: taken)
            }
            throw error
        }
    }

    /// Removes a request from the store, unless a newer one has taken its place.
    private func forget(_ request: AuthorizationRequest) async throws(StoreError) {
        let judged = request.encoded()
        try await changePending { pending in
            pending.request?.equals(judged) ?? false ? PendingLogin(code: pending.code) : pending
        }
    }

    /// The code of this client that waits in the store; nil if there is none.
    public func pendingCode() async -> AuthorizationCode? {
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
    public func logInWithPendingCode() async throws(LoginError) -> Login? {
        if let refusal = await storeRefusal() { throw .unstored(refusal) }
        guard let code = await pendingCode() else { return nil }
        let taken = try await take { pending in
            guard pending.code?.verifier.equals(code.verifier) ?? false else { return false }
            pending.code = nil
            return true
        }
        guard let taken else { return nil }
        do throws(LoginError) {
            return try await logIn(with: code)
        } catch {
            if error.leavesCodeUnused { await putBack(PendingLogin(code: code), besideSessionAfter: taken) }
            throw error
        }
    }

    /// Takes what waits in the store for oneself, under its lock.
    ///
    /// - Parameter remove: returns false if it is not there.
    /// - Returns: the generation of the session that it was taken from; nil if it was not there.
    private func take(
        _ remove: @escaping @Sendable (inout PendingLogin) -> Bool
    ) async throws(LoginError) -> Int? {
        let taken = TakenLogin()
        do throws(StoreError) {
            try await changePending { pending in
                var pending = pending
                let isThere = remove(&pending)
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

    /// Removes a code from the store, unless a newer one has taken its place.
    ///
    /// - Throws: ``StoreError``.
    public func forget(_ code: AuthorizationCode) async throws(StoreError) {
        try await changePending { pending in
            var pending = pending
            if pending.code?.verifier.equals(code.verifier) ?? false { pending.code = nil }
            return pending
        }
    }

    /// Changes the code and the request that wait in the store.
    private func changePending(
        _ change: @escaping @Sendable (PendingLogin) -> PendingLogin
    ) async throws(StoreError) {
        _ = target
        if case .failed(let error) = await core.perform(.keeping(change)) { throw error }
    }
}

/// The generation of the session that a login was taken from; nil if it was not there.
private final class TakenLogin: Sendable {
    let generation = Mutex<Int?>(nil)
}
