// SPDX-License-Identifier: Apache-2.0

internal import BearerdAdminAPI
internal import BearerdCryptography
internal import BearerdHTTPMessages
internal import BearerdHTTPServer
internal import BearerdObservability
internal import OAuth

/// The status page, with everything that an operator wants to see at a glance.
///
/// It is complete without a script. With one, ``parts`` replace its content once a second.
struct StatusPage {
    /// The most bytes of markup for identities, for routes, and for warnings, which keep the page below 100 KiB.
    ///
    /// Only the number of the remaining ones is shown.
    private static let identityBytes = 27 << 10
    private static let routeBytes = 19 << 10
    private static let warningBytes = 2 << 10
    /// As many as may fit there, whose parts are sent: what a page has shown when it was loaded goes on being told, though
    /// others have grown meanwhile.
    private static let mostCards = 48
    private static let mostRows = 48

    let document: StatusDocument
    let samples: [TrafficHistory.Sample]
    /// The identities to which a browser can log in.
    let logins: Set<String>
    /// The configuration of each identity's client.
    var clients: [String: ClientFacts] = [:]
    /// The data listeners, each with its protocols.
    var listeners: [String] = []
    /// True if the daemon has a file, by which commands find it.
    var namesCommands = true
    /// The mark of the configuration, by which the script knows if events are about this page.
    var mark = ""
    let isDraining: Bool
    let now: WallTime

    private static let policy = """
        style-src \(ContentHash.source(PageStyle.text)); script-src \(ContentHash.source(PageScript.text)); \
        img-src data:; connect-src 'self'; form-action 'none'
        """

    /// The answer with the page.
    var reply: ServiceReply {
        ServiceReply(page: Array(markup.markup.utf8), allowing: Self.policy)
    }

    /// The parts that change.
    var parts: [PagePart] {
        [PagePart("summary", summary), PagePart("uptime", uptime), PagePart("reload", reload)]
            + cards.flatMap(\.parts) + rows.map(\.part)
            + charts
    }

    private var cards: [IdentityCard] {
        let used = self.used
        return document.identities.prefix(Self.mostCards).enumerated().map { index, status in
            IdentityCard(
                status: status, key: "i\(index)", hasLogin: logins.contains(status.name),
                isUsed: used.contains(status.name), client: clients[status.name],
                namesCommands: namesCommands, now: now)
        }
    }

    private var rows: [RouteRow] {
        document.routes.prefix(Self.mostRows).enumerated().map { RouteRow(route: $1, key: "r\($0)") }
    }

    /// The first pieces, as many as fit into the room.
    private static func first(_ room: Int, of pieces: [HTMLText]) -> ArraySlice<HTMLText> {
        var left = room
        return pieces.prefix { piece in
            left -= piece.markup.utf8.count
            return left >= 0
        }
    }

    /// The identities that routes use: another one harms nobody.
    private var used: Set<String> { Set(document.routes.compactMap(\.identity)) }

    private var chart: PageChart {
        PageChart(
            samples, uptime: document.uptime ?? .zero,
            hasRequests: document.requests.map { $0.total > 0 } ?? false)
    }

    private var charts: [PagePart] {
        let chart = self.chart
        return [
            PagePart("charts-title", chart.title),
            PagePart("c0", chart.rates("Requests", "c0", of: AnswerBlame.allCases)),
            PagePart(
                "c1",
                chart.rates(
                    "What went wrong, and where", "c1",
                    of: AnswerBlame.allCases.filter { $0 != .nobody })),
            PagePart("c2", chart.durations("Time to answer", "c2")),
        ]
    }

    private var markup: HTMLText {
        let cards = Self.first(Self.identityBytes, of: self.cards.map(\.markup))
        let rows = Self.first(Self.routeBytes, of: self.rows.map(\.markup))
        let warnings = Self.first(
            Self.warningBytes,
            of: document.warnings.map {
                "<p class=\"callout\"><strong>Protection off:</strong> \($0)</p>" as HTMLText
            })
        let identities: HTMLText =
            document.identities.isEmpty
            ? "<p class=\"dim\">No identity is configured.</p>"
            : "<div class=\"cards\">\(cards.joined())</div>"
        let figures = charts.dropFirst().map { "<figure id=\"\($0.id)\">\($0.content)</figure>" as HTMLText }
            .joined()
        return """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>\(look.title)</title><link rel="icon" id="icon" href="\(look.icon)"><noscript><meta http-equiv="refresh" content="10"></noscript>
            <style>\(HTMLText(stringLiteral: PageStyle.text))</style></head><body>
            <header><h1>bearerd</h1><span class="dim">\(document.version), up <span id="uptime">\(uptime)</span></span>
            <span id="live" data-mark="\(mark)">as of when the page was loaded</span></header>
            <main><p id="lost" class="callout" role="status" data-title="\(PageLook.unknown.title)" data-icon="\(PageLook.unknown.icon)"></p><p id="summary">\(summary)</p><p id="notice" role="status"></p>
            <div id="reload">\(reload)</div>\(warnings.joined())\(rest(document.warnings.count - warnings.count))
            <noscript><p class="dim">The page is loaded anew each ten seconds. Buttons need a script\(commands).</p></noscript>
            <h2>Identities</h2>\(identities)\(rest(document.identities.count - cards.count))
            <h2>Routes</h2><div class="scroll"><table><thead><tr><th scope="col">Route</th><th scope="col">Identity</th>
            <th scope="col">Upstream</th><th scope="col" class="number">Rate</th><th scope="col" class="number">p50</th>
            <th scope="col" class="number">p99</th><th scope="col">Answers: fine, or where it failed</th>
            <th scope="col" class="number">Replays</th><th scope="col" class="number">Streams</th></tr></thead>
            <tbody>\(rows.joined())</tbody></table></div>\(rest(document.routes.count - rows.count))
            <p class="dim">Rate, p50 and p99 are of the last minute; the rest is since the start.</p>
            <h2 id="charts-title">\(chart.title)</h2><div class="charts">\(figures)</div></main>
            <footer>\(entrances)<a href="\(AdminResource.status.path)">as JSON</a> · <a href="\(AdminResource.metrics.path)">metrics</a> ·
            <a href="\(AdminResource.readiness.path)">readiness</a></footer>
            <script>\(HTMLText(stringLiteral: PageScript.text))</script></body></html>

            """
    }

    /// Where clients are served, and in which protocols.
    private var entrances: HTMLText {
        guard !listeners.isEmpty else { return .empty }
        let words = listeners.prefix(8).joined(separator: ", ")
        return "<p>Clients are served at \(words.cut(to: 800))\(listeners.count > 8 ? ", …" : "").</p>"
    }

    private func rest(_ count: Int) -> HTMLText {
        count > 0
            ? "<p class=\"dim\">\(String(count)) more are in <a href=\"\(AdminResource.status.path)\">the JSON</a>.</p>"
            : .empty
    }

    /// The commands that do the same as the buttons.
    private var commands: HTMLText {
        guard namesCommands else { return .empty }
        return
            "; the commands <code>bearerd refresh</code>, <code>revoke</code> and <code>logout</code> do the same"
    }

    private var uptime: HTMLText { "\(document.uptime?.words ?? "")" }

    /// Why the last reload was refused; empty if it was not.
    private var reload: HTMLText {
        guard let refusal = document.refusedReload else { return .empty }
        let reasons = refusal.reasons.prefix(5).map { "<br><code>\($0.cut(to: 400))</code>" as HTMLText }
        let more = refusal.reasons.count - reasons.count
        return """
            <p class="callout"><strong>Reload refused</strong> at \(Timestamp.text(unixSeconds: refusal.at.secondsSinceEpoch)):\
            \(reasons.joined())\(more > 0 ? "<br>\(String(more)) more" : .empty)</p>
            """
    }

    private var ill: [SessionStatus] {
        let used = self.used
        return document.identities.filter {
            !$0.state.isWell && $0.comingTrouble == nil && used.contains($0.name)
        }
    }

    /// Those that have a token, but may soon have none, or lose their session.
    private var troubled: [SessionStatus] {
        let used = self.used
        return document.identities.filter { $0.comingTrouble != nil && used.contains($0.name) }
    }

    /// Those for whose first or next token requests wait now.
    private var waiting: [SessionStatus] {
        let used = self.used
        return document.identities.filter { $0.waitsForToken && used.contains($0.name) }
    }

    /// The tab's title and icon, for the script to put in place.
    private var look: PageLook {
        let isBad =
            document.refusedReload != nil || !document.silentWorkers.isEmpty
            || !document.endedCertificates.isEmpty
            || document.routes.contains { $0.figures?.health.isFailing ?? false }
            || ill.contains { $0.state != .authorizationError } || troubled.contains(where: \.isOnlyHere)
        let isDoubtful =
            isDraining || !ill.isEmpty || !troubled.isEmpty || !waiting.isEmpty
            || document.routes.contains { if case .falters? = $0.figures?.health { true } else { false } }
        return isBad ? .bad : isDoubtful ? .doubtful : .good
    }

    private var summary: HTMLText {
        "<span data-title=\"\(look.title)\" data-icon=\"\(look.icon)\">\(sentences)</span>"
    }

    /// The sentence that tells if somebody has to act.
    private var sentences: HTMLText {
        if isDraining {
            return
                "<strong class=\"warn\">Draining:</strong> it was told to end, is not ready for more, and finishes what has begun."
        }
        let ill = self.ill
        let failing = document.routes.filter { $0.figures?.health.isFailing ?? false }
        let faltering = document.routes.filter {
            if case .falters? = $0.figures?.health { true } else { false }
        }
        let silent = document.silentWorkers
        let refusal = document.refusedReload
        let troubled = self.troubled
        let waiting = self.waiting
        guard
            !ill.isEmpty || !troubled.isEmpty || !waiting.isEmpty || !failing.isEmpty || !faltering.isEmpty
                || !silent.isEmpty || refusal != nil || !document.endedCertificates.isEmpty
        else {
            return "All is well."
        }
        var sentences: [HTMLText] = []
        if refusal != nil {
            sentences.append(
                "<strong class=\"bad\">The last reload was refused:</strong> the old configuration is in force. "
            )
        }
        if !document.endedCertificates.isEmpty {
            let ends = Self.listed(document.endedCertificates.map { $0.cut(to: 160) }, by: "; ")
            sentences.append("<strong class=\"bad\">A certificate has ended:</strong> \(ends). ")
        }
        if !silent.isEmpty {
            let names = Self.listed(silent, by: ", ")
            sentences.append(
                "<strong class=\"bad\">Standing still:</strong> \(names): no requests there, and old figures; restart if it lasts. "
            )
        }
        if !ill.isEmpty {
            let troubles = Self.listed(ill.map { "\($0.name.cut(to: 60)): \(trouble(of: $0))" }, by: "; ")
            sentences.append(
                "<strong class=\"bad\">\(ill.count == 1 ? "An identity needs a look" : "\(String(ill.count)) identities need a look"):</strong> \(troubles). "
            )
        }
        for status in troubled.prefix(5) { sentences.append(sentence(on: status)) }
        if troubled.count > 5 {
            sentences.append("\(String(troubled.count - 5)) more identities are like that. ")
        }
        if !waiting.isEmpty {
            let names = Self.listed(waiting.map { $0.name.cut(to: 60) }, by: "; ")
            sentences.append("<strong class=\"warn\">Requests wait for a token</strong> of \(names). ")
        }
        if !failing.isEmpty {
            sentences.append("<strong class=\"bad\">Routes that fail:</strong> \(Self.paths(of: failing)). ")
        }
        if !faltering.isEmpty {
            sentences.append(
                "<strong class=\"warn\">The last request failed:</strong> \(Self.paths(of: faltering)). ")
        }
        return sentences.joined()
    }

    /// The trouble of an identity in the middle of a sentence.
    private func trouble(of status: SessionStatus) -> String {
        let source = clients[status.name]?.source
        let words = status.words(isUsed: true, source: source).text
        // A source may begin with a name of its own.
        return source == nil ? words.prefix(1).lowercased() + words.dropFirst() : words
    }

    /// The trouble of an identity that still has a token, how long the token lasts, and the remedy.
    private func sentence(on status: SessionStatus) -> HTMLText {
        let name = "\(status.name.cut(to: 60))"
        if status.isOnlyHere {
            return """
                <strong class="bad">Not kept:</strong> a restart would lose the newest session of \(name): mend the store \
                first.\(status.goesOnFromMemory ? " It goes on from memory meanwhile." : "") 
                """
        }
        if status.goesOnFromMemory {
            return """
                <strong class="warn">Not stored:</strong> the store takes no writes, and \(name) goes on from memory; a restart \
                fetches a new token. 
                """
        }
        let left = status.troubleEndsAt.map { max(.zero, $0 - now).words }
        let end: HTMLText =
            left.map {
                """
                its token lasts another \($0), and no request gets one after that unless \
                \(status.state == .loginRequired ? "somebody logs in" : "a later try works")
                """
            }
            ?? "see its last error"
        let cause: HTMLText =
            status.lastError?.isAboutStore == true
            ? "the store cannot be used, and without it nothing is renewed for \(name)"
            : "the last try for \(name) failed"
        return "<strong class=\"warn\">Not renewed:</strong> \(cause); \(end). "
    }

    private static func paths(of routes: [RouteStatus]) -> HTMLText {
        // A route with identities by user is told once.
        var scopes: Set<RouteScope> = []
        let told = routes.map(\.scope).filter { scopes.insert($0).inserted }
        return "\(listed(told.map { $0.words.cut(to: 100) }, by: ", "))"
    }

    /// The first five, and a sign that there are more.
    private static func listed(_ words: [String], by separator: String) -> String {
        words.prefix(5).joined(separator: separator) + (words.count > 5 ? " …" : "")
    }
}
