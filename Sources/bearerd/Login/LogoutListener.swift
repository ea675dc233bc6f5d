// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdSystem
import OAuth
import OAuthRuntime

/// Serves one page once, from which a browser posts a logout to the provider.
///
/// The id token is in the page. Its address is a secret of this process and the browser, but every user may read a
/// browser's arguments, so only a program of our own user gets the page.
actor LogoutListener: LoopConfined, HTTPResponder {
    /// How long the browser may take to start.
    private static let browserLimit = Duration.seconds(15)
    /// How long it may take to fetch the page.
    private static let farewell = Duration.seconds(2)

    nonisolated let loop: EventLoop

    private let request: EndSessionRequest
    private let path = "/" + SecureRandom.word(bytes: 16)
    private let nonce = SecureRandom.word(bytes: 16)
    private let hosts: HostList
    private let origin: String
    private var isShown = false
    private var isOver = false
    private var waiter: CheckedContinuation<Void, Never>?

    private init(_ request: EndSessionRequest, port: UInt16, loop: EventLoop) {
        self.request = request
        self.loop = loop
        hosts = HostList(["127.0.0.1:\(port)"])
        origin = "http://127.0.0.1:\(port)"
    }

    /// Shows a browser the page that ends the provider's session.
    ///
    /// - Returns: true if the browser fetched the page; the provider's result is unknown.
    static func show(_ request: EndSessionRequest, in browser: Browser, on loop: EventLoop) async -> Bool {
        guard let sockets = try? ListeningSocket.tcp(host: "127.0.0.1", port: 0, joining: false),
            let port = sockets.first?.address?.port
        else { return false }
        let listener = LogoutListener(request, port: port, loop: loop)
        let service = HTTPService(loop: loop, responder: listener)
        var isShown = false
        do {
            for socket in sockets { try await service.listen(on: socket) }
            isShown = await listener.open(browser)
        } catch {
            // The kernel watches nothing more: it is as if no browser had come.
        }
        await service.stop(waitingAtMost: farewell)
        return isShown
    }

    private func open(_ browser: Browser) async -> Bool {
        guard (try? browser.open(origin + path)) != nil else { return false }
        let timer = LoopTimer(loop: loop) { self.assumeIsolated { $0.end() } }
        timer.set(after: Self.browserLimit)
        await withCheckedContinuation { continuation in
            if isOver { continuation.resume() } else { waiter = continuation }
        }
        timer.cancel()
        return isShown
    }

    private func end() {
        isOver = true
        waiter?.resume()
        waiter = nil
    }

    func judge(_ message: ServiceRequest) async -> ServiceJudgement {
        guard hosts.contains(message.head.fields[.host]), message.path == path, message.head.method == .get,
            await message.peerUser() == .known(CurrentProcess.effectiveUser), !isOver
        else { return .refused(LoginPage.nothingHere.reply) }
        isShown = true
        end()
        let page = ServiceReply(page: markup, allowing: "script-src 'nonce-\(nonce)'")
        return .answered { page }
    }

    private var markup: [UInt8] {
        let inputs = request.parameters.map { parameter -> HTMLText in
            "<input type=\"hidden\" name=\"\(parameter.name)\" value=\"\(parameter.value)\">"
        }
        let page: HTMLText = """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><title>Logging out</title></head><body>
            <form method="post" action="\(request.endpoint.description)">\(inputs.joined())
            <button>Log out at the provider</button></form>
            <script nonce="\(nonce)">document.forms[0].submit()</script>
            </body></html>

            """
        return Array(page.markup.utf8)
    }
}
