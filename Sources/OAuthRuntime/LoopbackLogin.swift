// SPDX-License-Identifier: Apache-2.0

import EventLoop
import OAuth

/// A login whose end is awaited on loopback.
struct LoopbackLogin {
    let session: AuthSession
    let loop: EventLoop
    let redirectURI: String
    let limit: Duration

    /// From the URL to the stored session.
    func run(open: @Sendable (String) -> Void) async -> Result<Login, LoginError> {
        guard let uri = RedirectURI(redirectURI), uri.isLoopback else {
            return .failure(.misconfigured("\(redirectURI) is no http URL of this machine"))
        }
        let sockets: RedirectSockets
        do throws(RedirectSockets.Failure) {
            sockets = try RedirectSockets(for: uri, listen: nil)
        } catch {
            return .failure(.misconfigured(error.reason))
        }
        let request: AuthorizationRequest
        do throws(TokenFailure) {
            request = try await session.authorizationRequest(redirectURI: uri.text(port: sockets.port))
        } catch {
            return .failure(.failed(error))
        }
        let redirect: AwaitedRedirect
        do throws(RedirectSockets.Failure) {
            redirect = try await AwaitedRedirect(answering: request, at: uri, on: sockets, loop: loop)
        } catch {
            return .failure(.misconfigured(error.reason))
        }
        open(request.url)
        let login = await exchange(redirect.answer(waitingAtMost: limit))
        switch login {
        case .success: await redirect.end(showing: .done)
        case .failure: await redirect.end(showing: .failed)
        }
        return login
    }

    private func exchange(_ answer: AwaitedRedirect.Answer?) async -> Result<Login, LoginError> {
        switch answer {
        case nil: return .failure(.expired)
        case .foreign(let reason)?: return .failure(.foreignAnswer(reason))
        case .response(.refused(let refusal))?: return .failure(.refused(refusal))
        case .response(.granted(let code))?:
            do throws(LoginError) {
                return .success(try await session.logIn(with: code))
            } catch {
                return .failure(error)
            }
        }
    }
}

extension LoginError {
    /// The redirect was answered by another server than the one that was asked (RFC 9207).
    fileprivate static func foreignAnswer(_ reason: String) -> LoginError {
        .failed(
            TokenFailure(.final, .issuerMismatch, detail: "the answer is not believed: \(reason)"))
    }

    fileprivate static func misconfigured(_ detail: String) -> LoginError {
        .failed(TokenFailure(.misconfigured, .badRedirectURI, detail: detail))
    }
}
