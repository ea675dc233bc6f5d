// SPDX-License-Identifier: Apache-2.0

internal import BearerdAdminAPI
internal import BearerdCryptography
internal import BearerdHTTPMessages
internal import BearerdHTTPServer

/// The small pages of the admin listener for people.
enum AdminPage {
    private static let style = "style-src \(ContentHash.source(SmallPage.style))"

    /// Makes a page of text and links.
    static func reply(_ title: HTMLText, _ content: HTMLText, status: Int) -> ServiceReply {
        ServiceReply(
            page: SmallPage(title: title, content: content).bytes, status: status,
            allowing: "\(style); form-action 'none'")
    }

    /// Makes a page that asks for the admin key.
    ///
    /// - Parameters:
    ///   - destination: the page that the person wanted.
    ///   - problem: the reason why the typed key was refused; nil if none was typed yet.
    static func keyForm(to destination: AdminResource, problem: String? = nil, status: Int) -> ServiceReply {
        let problem = problem.map { "<p class=\"problem\" role=\"alert\">\($0)</p>" as HTMLText } ?? .empty
        let content: HTMLText = """
            \(problem)<form method="post" action="\(AdminResource.key.path)">
            <input type="hidden" name="next" value="\(destination.path)">
            <label for="key">This listener needs the admin key (<code>admin.key</code>).</label>
            <input id="key" name="key" type="password" autocomplete="current-password" required autofocus>
            <button>Go on</button></form>
            """
        var reply = ServiceReply(
            page: SmallPage(title: "Admin key", content: content).bytes, status: status,
            allowing: "\(style); form-action 'self'")
        // Without a referrer browsers do not say either which origin a form is of.
        HTTPFields.Name("Referrer-Policy").map { reply.head.fields[$0] = "same-origin" }
        return reply
    }

    /// Makes a page that forwards to the one that the person wanted.
    ///
    /// A redirect does not work here: browsers apply `form-action` to the redirects of a form too, and a
    /// login redirects to the provider.
    static func forward(to destination: AdminResource, cookie: String) -> ServiceReply {
        let content: HTMLText = """
            <meta http-equiv="refresh" content="0; url=\(destination.path)">
            <p><a class="go" href="\(destination.path)">Go on</a></p>
            """
        var reply = reply("The key is right", content, status: 200)
        reply.head.fields[.setCookie] = cookie
        return reply
    }

    /// A link to the status page.
    static let home: HTMLText = "<p><a class=\"go\" href=\"/\">To the status page</a></p>"
}
