// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
package import BearerdHTTPServer
import BearerdSystem
import OAuth

/// The page that the browser shows after a redirect: one sentence, no script, and nothing that was sent.
package struct LoginPage: Sendable {
    private let status: Int
    private let title: String
    private let text: String

    /// A page whose title and sentence need no escaping.
    package init(status: Int = 200, title: String, text: String) {
        self.status = status
        self.title = title
        self.text = text
    }

    package static let done = LoginPage(status: 200, title: "Logged in", text: "This window can be closed.")
    package static let failed = LoginPage(
        status: 400, title: "Not logged in", text: "The program that started the login tells why.")
    static let over = LoginPage(
        status: 410, title: "This login is over", text: "Start again from where you came.")
    package static let nothingHere = LoginPage(
        status: 404, title: "Nothing here", text: "Only a login's end is awaited here.")
    static let wrongMethod = LoginPage(
        status: 405, title: "Not like this", text: "A browser comes here with GET.")
    static let wrongHost = LoginPage(status: 421, title: "Wrong host", text: "Nobody of this name is here.")

    static func otherUser(_ user: PeerUser) -> LoginPage {
        LoginPage(
            status: 403, title: "Not for this user",
            text:
                "A login is finished by the user who began it, or by root, and \(user.words). "
                + "The login still waits; where it cannot be told who comes, log in with --device, or give redirect_listen."
        )
    }

    static func refused(_ error: AuthorizationResponseError) -> LoginPage {
        LoginPage(
            status: 400, title: "This answer does not count",
            text: "Because \(error.reason). The login still waits for the right one.")
    }

    static func ended(_ error: AuthorizationResponseError) -> LoginPage {
        LoginPage(
            status: 400, title: "Not logged in",
            text: "The answer is not believed, because \(error.reason). Start again from where you came.")
    }

    /// A reply that must not be stored, framed or forwarded.
    package var reply: ServiceReply {
        var reply = ServiceReply(
            page: markup, status: status,
            allowing: "style-src \(ContentHash.source(SmallPage.style)); form-action 'none'")
        if status == 405 { reply.head.fields[.allow] = "GET" }
        return reply
    }

    private var markup: [UInt8] { SmallPage(title: "\(title)", content: "<p>\(text)</p>").bytes }
}
