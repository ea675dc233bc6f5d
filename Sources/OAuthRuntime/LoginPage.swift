// SPDX-License-Identifier: Apache-2.0

package import HTTPServer
import OAuth

/// What the browser shows after a redirect: one sentence, no script, nothing of what was sent.
package struct LoginPage: Sendable {
    private let status: Int
    private let title: String
    private let text: String

    package static let done = LoginPage(status: 200, title: "Logged in", text: "This window can be closed.")
    package static let noted = LoginPage(
        status: 200, title: "Nearly there",
        text: "This window can be closed; 'bearerd exchange' finishes the login.")
    package static let failed = LoginPage(
        status: 400, title: "Not logged in", text: "The terminal where the login was started tells why.")
    static let over = LoginPage(
        status: 410, title: "This login is over", text: "Start again from where you came.")
    package static let nothingHere = LoginPage(
        status: 404, title: "Nothing here", text: "Only a login's end is awaited here.")
    static let wrongMethod = LoginPage(
        status: 405, title: "Not like this", text: "A browser comes here with GET.")
    static let wrongHost = LoginPage(status: 421, title: "Wrong host", text: "Nobody of this name is here.")

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

    /// The page as an answer that nobody keeps, frames or passes on.
    package var reply: ServiceReply {
        var reply = ServiceReply(
            page: markup, status: status, allowing: "style-src 'unsafe-inline'; form-action 'none'")
        if status == 405 { reply.head.fields[.allow] = "GET" }
        return reply
    }

    private var markup: String {
        """
        <!doctype html>
        <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
        <title>\(title)</title><style>
        :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
        body { max-width: 22rem; margin: 12vh auto; padding: 0 1rem }
        </style></head><body><h1>\(title)</h1>
        <p>\(text)</p>
        </body></html>

        """
    }
}
