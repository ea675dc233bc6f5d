// SPDX-License-Identifier: Apache-2.0

internal import BearerdAdminAPI
internal import BearerdHTTPMessages
internal import BearerdHTTPServer
internal import BearerdObservability
internal import OAuth

/// The pages that a browser shows for a login.
enum LoginPages {
    static func done(_ login: Login?, _ identity: String, at provider: String?) -> ServiceReply {
        let person =
            login?.personName.map { " as <strong>\(String($0.prefix(200)))</strong>" as HTMLText } ?? .empty
        let advice: HTMLText =
            login?.hasRefreshToken ?? true
            ? .empty
            : """
            <p class="problem">No refresh token came back, so the session ends with its access token: ask for the scope
            <code>offline_access</code> (Google: <code>authorization_params: {access_type: offline}</code>).</p>
            """
        return AdminPage.reply(
            "Logged in",
            "<p><strong>\(identity)</strong> is logged in\(person)\(place(provider)). This window can be closed.</p>\(advice)\(AdminPage.home)",
            status: 200)
    }

    /// - Parameter trouble: the reason why the session is in memory alone.
    static func unstored(_ trouble: StoreError, _ identity: String, at provider: String?) -> ServiceReply {
        AdminPage.reply(
            "Logged in, and not stored yet",
            """
            <p><strong>\(identity)</strong> is logged in\(place(provider)), and requests are served with the new session.</p>
            <p class="problem">It is in memory alone, so a restart would lose it: \(trouble.reason)</p>
            <p>It is stored as soon as the store takes it; nobody needs to log in again for that.</p>\(AdminPage.home)
            """,
            status: 200)
    }

    /// - Parameter hasSession: true if there is a session all the same, which stays.
    static func failed(
        _ error: AdminError, _ identity: String, at provider: String?, hasSession: Bool
    ) -> ServiceReply {
        var page = AdminPage.reply(
            hasSession ? "No new login" : "Not logged in",
            "<p><strong>\(identity)</strong>\(place(provider)):</p><p class=\"problem\">\(error.detail)</p>\(stays(hasSession))\(again(identity))",
            status: error.status)
        if error.status == 503 { page.head.fields[.retryAfter] = "5" }
        return page
    }

    /// - Parameter hasSession: true if there is a session all the same, which stays.
    static func ended(
        _ error: AuthorizationResponseError, _ identity: String, at provider: String?, hasSession: Bool
    ) -> ServiceReply {
        AdminPage.reply(
            hasSession ? "No new login" : "Not logged in",
            "<p class=\"problem\">The answer\(place(provider, "of")) is not believed, because \(error.reason).</p>\(stays(hasSession))\(again(identity))",
            status: 400)
    }

    static func refused(_ error: AuthorizationResponseError) -> ServiceReply {
        AdminPage.reply(
            "This answer does not count",
            "<p>Because \(error.reason). A login that waits goes on waiting.</p>",
            status: 400)
    }

    /// The page for a login whose key or user may not log in any more.
    static var rightIsOver: ServiceReply {
        AdminPage.reply(
            "This login is over",
            """
            <p>Whoever began it may not log in here any more: the admin key was replaced, or <code>admin.peer_uids</code>
            changed. Nothing has changed, and the code was not used.</p>\(AdminPage.home)
            """,
            status: 403)
    }

    /// - Parameter start: the start of the daemon, in milliseconds since 1970.
    static func over(since start: Int64) -> ServiceReply {
        AdminPage.reply(
            "No login waits for this",
            """
            <p>It was finished before, or took longer than ten minutes, or many others were begun since; or it was begun
            elsewhere, or before bearerd was started at \(Timestamp.text(unixSeconds: start / 1000)). Nothing has
            changed.</p>\(AdminPage.home)
            """,
            status: 410)
    }

    /// - Parameters:
    ///   - start: the start of the daemon, in milliseconds since 1970.
    ///   - identities: the identities of which one was to be logged in to.
    static func before(since start: Int64, _ identities: [String]) -> ServiceReply {
        let links: HTMLText = identities.count == 1 ? begin(identities[0], "Begin it again") : AdminPage.home
        return AdminPage.reply(
            "bearerd was started anew",
            """
            <p>That was at \(Timestamp.text(unixSeconds: start / 1000)), after this browser had begun its login. A login
            that waits is kept in memory alone, so this one cannot be finished. Nothing has changed.</p>\(links)
            """,
            status: 410)
    }

    static func tooMany(_ identity: String, _ wait: Duration) -> ServiceReply {
        let seconds = String(wait.components.seconds + 1)
        var page = AdminPage.reply(
            "Too many logins",
            """
            <p>Each visit of this page sends the provider a request (RFC 9126), and for <strong>\(identity)</strong> there
            were as many as can wait. The next one may be begun in \(seconds) s; one that was begun
            can be finished.</p>\(again(identity))
            """,
            status: 429)
        page.head.fields[.retryAfter] = seconds
        return page
    }

    static let otherBrowser = AdminPage.reply(
        "Not this browser",
        """
        <p>This browser did not begin the login that it brings the answer to, or keeps no cookies: nothing has changed.
        Begin it here.</p>\(AdminPage.home)
        """,
        status: 400)

    static func nothing(_ status: Int) -> ServiceReply {
        AdminPage.reply("Nothing here", "<p>Only a login's end is awaited here.</p>", status: status)
    }

    static func onlyByCommand(_ identity: String) -> ServiceReply {
        AdminPage.reply(
            "A login by command",
            "<p>Nobody logs in to this identity in this browser. Run <code>bearerd login \(identity)</code>.</p>",
            status: 409)
    }

    static func needsNobody(_ identity: String) -> ServiceReply {
        AdminPage.reply(
            "Nobody needs to log in",
            "<p><strong>\(identity)</strong> gets its tokens without a person.</p>\(AdminPage.home)",
            status: 409)
    }

    static func unreachable(_ uri: RedirectURI, from host: String, _ identity: String) -> ServiceReply {
        AdminPage.reply(
            "The way back is missing",
            """
            <p class="problem">The provider would send this browser to <code>\(uri.description)</code>, and that is the
            browser's own machine, not this one.</p>
            <p>Set <code>identities.\(identity).redirect_uri</code> to
            <code>http://\(PlainName.host(host) ?? "HOST:PORT")/callback</code> with
            <code>redirect_listen</code> beside it, register that with the provider, and come back; or open this page
            on the machine itself.</p>
            """,
            status: 409)
    }

    /// - Parameters:
    ///   - name: what no identity is called.
    ///   - identities: the names of those that there are.
    ///   - logins: those of them to which this browser can log in.
    static func unknown(_ name: String, among identities: [String], logins: Set<String>) -> ServiceReply {
        let names = identities.map { identity -> HTMLText in
            logins.contains(identity)
                ? "<li><a href=\"\(AdminResource.login(identity: identity).path)\">\(identity)</a></li>"
                : "<li>\(identity)</li>"
        }
        return AdminPage.reply(
            "No such identity",
            """
            <p>No identity is called <strong>\(name.printable.cut(to: 100))</strong>: it is spelled otherwise, this daemon
            runs by another configuration, or the one that names it is not in force yet. There are:</p>
            <ul>\(names.reduce(.empty) { "\($0)\($1)" as HTMLText })</ul>\(AdminPage.home)
            """,
            status: 404)
    }

    private static func stays(_ hasSession: Bool) -> HTMLText {
        hasSession ? "<p>The session that is there goes on.</p>" : .empty
    }

    /// Names the provider where its name is known.
    private static func place(_ provider: String?, _ preposition: HTMLText = "at") -> HTMLText {
        provider.map { " \(preposition) <strong>\($0.cut(to: 100))</strong>" } ?? .empty
    }

    private static func again(_ identity: String) -> HTMLText { begin(identity, "Try again") }

    private static func begin(_ identity: String, _ words: HTMLText) -> HTMLText {
        "<p><a class=\"go\" href=\"\(AdminResource.login(identity: identity).path)\">\(words)</a></p>"
    }
}
