// SPDX-License-Identifier: Apache-2.0

internal import BearerdAdminAPI
internal import BearerdHTTPMessages
internal import BearerdObservability
internal import OAuth

/// An identity's card on the status page.
struct IdentityCard {
    /// The most characters of a text from elsewhere that are shown.
    private static let longestText = 400
    private static let lowShare = 0.2
    private static let mostTokens = 6

    let status: SessionStatus
    /// The prefix of the card's element identifiers.
    let key: String
    /// True if a browser can log in to the identity.
    let hasLogin: Bool
    /// True if a route uses the identity.
    let isUsed: Bool
    /// The configuration of the identity's client.
    let client: ClientFacts?
    /// True if the daemon has a file, by which commands find it.
    var namesCommands = true
    let now: WallTime

    /// The whole card.
    var markup: HTMLText {
        let inner = parts.map { part -> HTMLText in
            let look: HTMLText = part.id == "\(key)-actions" ? " class=\"actions\"" : .empty
            return "<div id=\"\(part.id)\"\(look)>\(part.content)</div>"
        }.joined()
        return """
            <article class="card" aria-labelledby="\(key)-name">
            <h3 id="\(key)-name">\(status.name.cut(to: 100))</h3>\(inner)</article>
            """
    }

    /// The parts that change.
    var parts: [PagePart] {
        [
            PagePart("\(key)-state", state), PagePart("\(key)-facts", facts),
            PagePart("\(key)-actions", "\(login)\(actions)"),
        ]
    }

    private var state: HTMLText {
        let words = status.words(isUsed: isUsed, source: client?.source)
        let unused: HTMLText = isUsed ? .empty : "<p class=\"dim\">No route uses it.</p>"
        return """
            <p><span class="state \(words.tone)" title="\(status.state.rawValue)">\(words.text)</span></p>\(unused)\(life)\(error)
            """
    }

    /// The remaining lifetime of the token.
    private var life: HTMLText {
        guard let end = status.expiresAt else { return .empty }
        let left = end - now
        guard left > .zero else {
            return "<p class=\"dim\">The token has expired \((now - end).words) ago.</p>"
        }
        guard let lifetime = status.lifetime, lifetime > .zero else {
            return "<p class=\"dim\">The token is good for another \(left.words).</p>"
        }
        // It is no better for a clock that was set back meanwhile.
        let rest = min(left, lifetime)
        let share = rest / lifetime
        let percent = "\(Int((share * 100).rounded()))"
        let look: HTMLText = share < Self.lowShare ? "class=\"low\"" : "class=\"long\""
        return """
            <progress max="100" value="\(percent)" \(look) aria-label="life left of the token">\(percent) %</progress>
            <p class="dim">The token is good for \(rest.words) of \(lifetime.words).</p>
            """
    }

    private var error: HTMLText {
        guard let error = status.lastError else {
            return remedy ?? .empty
        }
        let since = error.at.map {
            " <span class=\"dim\">\(max(.zero, now - $0).words) ago</span>" as HTMLText
        }
        return """
            <div class="error\(isUsed && (!status.state.isWell || status.comingTrouble != nil) ? "" : " calm")"><p><code>\(error.code.cut(to: 100))</code>\(since ?? .empty)</p>
            <p>\(error.detail.cut(to: Self.longestText).breakable)</p>\(remedy ?? .empty)</div>
            """
    }

    private var remedy: HTMLText? {
        status.remedy(hasLogin: hasLogin, source: client?.source, namesCommands: namesCommands).map {
            "<p>\($0)</p>"
        }
    }

    /// True if the next token request is meant to end an error.
    private var isTroubled: Bool {
        !status.goesOnFromMemory && status.lastError?.isFailure ?? false
    }

    private var facts: HTMLText {
        var facts: [(HTMLText, HTMLText)] = []
        if let person = status.personName { facts.append(("Person", "\(person.cut(to: 100))")) }
        let isSource = client?.source != nil
        if let server = client?.server {
            facts.append((isSource ? "From" : "Issuer", server.cut(to: 200).breakable))
        }
        if let client {
            if !client.clientID.isEmpty { facts.append(("Client", "\(client.clientID.cut(to: 100))")) }
            facts.append((isSource ? "Source" : "Grant", "<code>\(client.grant)</code>"))
        }
        if status.isAsking {
            facts.append((isTroubled ? "Next attempt" : "Next refresh", "asking now"))
        } else if let next = status.nextRequest {
            let left = next - now
            facts.append(
                (
                    isTroubled ? "Next attempt" : "Next refresh",
                    left > .seconds(1) ? "in \(left.words)" : "now"
                ))
        }
        if let last = status.lastRefresh {
            facts.append(("Last refresh", "\(max(.zero, now - last).words) ago"))
        }
        if !status.scope.isEmpty {
            facts.append(("Scope", "\(status.scope.joined(separator: " ").cut(to: 200))"))
        }
        if !status.tokens.isEmpty { facts.append(("Tokens", tokens)) }
        return "<dl>\(facts.map { "<dt>\($0)</dt><dd>\($1)</dd>" as HTMLText }.joined())</dl>"
    }

    /// How many of the routes' tokens can be used, and what each of the first ones is for.
    private var tokens: HTMLText {
        let usable = status.tokens.count { $0.state == .authorized }
        let list = status.tokens.prefix(Self.mostTokens).map { token -> HTMLText in
            "<br><span class=\"dim\">\(token.target.words.cut(to: 120))</span> <code>\(token.state.rawValue)</code>"
        }
        let rest = status.tokens.count - list.count
        let more: HTMLText = rest > 0 ? "<br><span class=\"dim\">and \(String(rest)) more</span>" : .empty
        return """
            \(String(usable)) of \(String(status.tokens.count)) can be used, one for each thing that a route asks for\(list.joined())\(more)
            """
    }

    /// The link to log in; it is prominent if nothing else helps.
    private var login: HTMLText {
        guard hasLogin, client?.source == nil else { return .empty }
        let path = AdminResource.login(identity: status.name).path
        let isNeeded = status.state == .loginRequired
        let label: HTMLText = isNeeded ? "Log in" : "Log in again"
        return """
            <a class="button\(isNeeded && isUsed ? " first" : "")" id="\(key)-go" href="\(path)" \
            aria-label="\(label): \(status.name)">\(label)</a>
            """
    }

    /// The actions that can succeed as things are.
    private var actions: HTMLText {
        guard !status.needsNoToken else { return .empty }
        let name = status.name
        // Before the first login, and after a logout, there is nothing to refresh, to revoke or to end.
        let isOver = status.state == .loginRequired && status.lastError == nil
        let needsPerson = client?.needsPerson ?? true
        var buttons = HTMLText.empty
        if !isOver, status.isRenewable {
            buttons += button("Refresh", .refresh(identity: name), done: "\(name) has a new token.")
        }
        // A source forgets no token, and has no session to end.
        guard client?.source == nil else { return buttons }
        if status.expiresAt != nil {
            buttons += button(
                "Revoke", .revoke(identity: name, nil), done: "The tokens of \(name) are revoked.",
                ask: "Have the provider forget the tokens of \(name)?")
        }
        if needsPerson, !isOver {
            buttons += button(
                "Log out", .logout(identity: name, onlyHere: false), done: "\(name) is logged out.",
                kept: """
                    \(name) is not logged out here: the store holds the session still, and a restart would bring it back. \
                    Log out again once that is mended:
                    """,
                ask: "End the session of \(name), here and at the provider?")
        }
        return buttons
    }

    /// A button; one that takes something away looks so, and asks first.
    ///
    /// - Parameter kept: is told in place of `done`, with the reason, where the store takes the change not.
    private func button(
        _ label: String, _ action: AdminResource, done: String, kept: String? = nil, ask: String? = nil
    ) -> HTMLText {
        let question = ask.map { " data-ask=\"\($0)\" class=\"danger\"" as HTMLText } ?? .empty
        return """
            <button type="button" id="\(key)-\(label.prefix(3).lowercased())" data-action="\(action.path)" \
            data-done="\(done)"\(kept.map { " data-kept=\"\($0)\"" as HTMLText } ?? .empty)\(question) aria-label="\(label): \(status.name)">\(label)</button>
            """
    }
}

extension String {
    /// The text, or its beginning followed by an ellipsis.
    func cut(to length: Int) -> String { count > length ? prefix(length) + "…" : self }
}
