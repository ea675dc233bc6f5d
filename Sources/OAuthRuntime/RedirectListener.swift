// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdSystem
import OAuth

/// Awaits the one redirect that answers an authorization request (RFC 8252 §7.3).
///
/// Other requests change nothing. Every user of the machine may read a browser's arguments with the `state` in them
/// and bring a code of their own, so on loopback only the user who began the login is heard.
actor RedirectListener: LoopConfined, HTTPResponder {
    nonisolated let loop: EventLoop

    private let request: AuthorizationRequest
    private let path: String
    private let hosts: HostList
    /// The users that may bring the answer: ours, root, and the one who ran us by sudo(8); nil if the kernel cannot
    /// tell.
    private let users: Set<UInt32>?
    /// Hears why a redirect was refused.
    private let onRefusal: @Sendable (AuthorizationResponseError) -> Void
    private var answer: Result<AuthorizationCode, LoopbackLogin.Failure> = .failure(.expired)
    private var isOver = false
    private var waiter: CheckedContinuation<Void, Never>?
    private var verdict: LoginPage?
    private var browser: CheckedContinuation<Void, Never>?

    init(
        _ request: AuthorizationRequest, at uri: RedirectURI, on sockets: RedirectSockets, loop: EventLoop,
        onRefusal: @escaping @Sendable (AuthorizationResponseError) -> Void
    ) {
        self.request = request
        path = uri.path
        hosts = HostList(uri.hosts(port: sockets.port))
        let own = [CurrentProcess.effectiveUser, 0] + [CurrentProcess.sudoUser].compactMap(\.self)
        users = sockets.areLoopback ? Set(own) : nil
        self.loop = loop
        self.onRefusal = onRefusal
    }

    /// Waits for the first answer; later ones do not count.
    func answer(
        waitingAtMost limit: Duration
    ) async -> Result<AuthorizationCode, LoopbackLogin.Failure> {
        let timer = LoopTimer(loop: loop) { self.assumeIsolated { $0.end() } }
        timer.set(after: limit)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if isOver { continuation.resume() } else { waiter = continuation }
            }
        } onCancel: {
            loop.execute { self.assumeIsolated { $0.giveUp() } }
        }
        timer.cancel()
        return answer
    }

    /// Shows the person the result, in the browser that brought the answer.
    func show(_ page: LoginPage) {
        verdict = page
        browser?.resume()
        browser = nil
    }

    private func giveUp() {
        guard !isOver else { return }
        answer = .failure(.cancelled)
        end()
    }

    private func end() {
        isOver = true
        waiter?.resume()
        waiter = nil
    }

    func judge(_ message: ServiceRequest) async -> ServiceJudgement {
        guard hosts.contains(message.head.fields[.host]) else { return .refused(LoginPage.wrongHost.reply) }
        guard message.path == path else { return .refused(LoginPage.nothingHere.reply) }
        guard message.head.method == .get else { return .refused(LoginPage.wrongMethod.reply) }
        guard !isOver else { return .refused(LoginPage.over.reply) }
        if let users {
            let user = await message.peerUser()
            guard user.isAmong(users) else { return .refused(LoginPage.otherUser(user).reply) }
        }
        return .answered { await self.answer(message) }
    }

    private func answer(_ message: ServiceRequest) async -> ServiceReply {
        guard !isOver else { return LoginPage.over.reply }
        do throws(AuthorizationResponseError) {
            switch try request.response(in: message.query ?? "") {
            case .granted(let code): answer = .success(code)
            case .refused(let refusal): answer = .failure(.refused(refusal))
            }
        } catch {
            if error.endsLogin {
                answer = .failure(.foreign(error.clause))
                end()
                return LoginPage.ended(error).reply
            }
            onRefusal(error)
            return LoginPage.refused(error).reply
        }
        end()
        await withCheckedContinuation { continuation in
            if verdict == nil { browser = continuation } else { continuation.resume() }
        }
        return (verdict ?? .failed).reply
    }
}
