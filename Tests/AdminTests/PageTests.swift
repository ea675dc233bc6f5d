// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdObservability
import Synchronization
import Testing

@testable import BearerdAdmin
@testable import OAuth

/// What the status page says, and how much.
struct `The page of the status`: ShowsPage {
    @Test func `gives no token longer than it was made for, whatever the clock says`() {
        var status = identity("api")
        status.expiresAt = now + .seconds(3900)
        let text = page([status])
        #expect(text.contains("good for 5 min of 5 min") && text.contains("value=\"100\""))
    }

    @Test func `tells life, next refresh, person and what mends`() {
        var person = identity("web", .loginRequired)
        person.personName = "<alice>"
        person.lastError = LastError(code: "invalid_grant", detail: "\"no\" & <never>", at: now)
        let route = RouteStatus(path: "/", upstream: "http://api", identity: "web")
        let text = page(
            [identity("api"), person, identity("spare", .misconfigured)], routes: [route], logins: ["web"])
        #expect(text.contains("good for 45 s of 5 min") && text.contains("value=\"15\" class=\"low\""))
        #expect(text.contains("<dt>Next refresh</dt><dd>in 15 s</dd>"))
        #expect(text.contains("&lt;alice&gt;") && text.contains("&quot;no&quot; &amp; &lt;never&gt;"))
        #expect(
            text.contains(
                "<a class=\"button first\" id=\"i1-go\" href=\"/login/web\" aria-label=\"Log in: web\">Log in</a>"
            ))
        #expect(text.contains("An identity needs a look:</strong> web: somebody must log in."))
        #expect(
            !text.contains("href=\"/login/api\"")
                && text.contains("data-action=\"/api/identities/api/refresh\""))
        #expect(page([identity("api"), identity("spare", .misconfigured)]).contains("All is well."))
    }

    @Test func `is not well while requests wait for a token`() {
        let route = RouteStatus(path: "/", upstream: "http://api", identity: "api")
        let fetching = page([identity("api", .refreshing)], routes: [route])
        #expect(fetching.contains("Requests wait for a token</strong> of api. "))
        #expect(fetching.contains("<title>▲"))
    }

    @Test func `tells whose lock an identity waits for`() {
        let route = RouteStatus(path: "/", upstream: "http://api", identity: "api")
        var locked = identity("api", .unavailable)
        locked.lastError = LastError(code: "store_busy", detail: "process 7", isAboutStore: true)
        var text = page([locked], routes: [route])
        #expect(text.contains("api: another process keeps its session locked"), "\(text)")
        #expect(!text.contains("All is well") && !text.contains("rovider gives"), "\(text)")
        locked.lastError = LastError(
            StoreTrouble(error: .busy(by: StoreError.thisProcess), since: now))
        text = page([locked], routes: [route])
        #expect(text.contains("api: an earlier request of this process keeps its session locked"), "\(text)")
        #expect(text.contains("when that request has ended"), "\(text)")
    }

    @Test func `is not well before the store has said if there is a session`() {
        let route = RouteStatus(path: "/", upstream: "http://api", identity: "api")
        var asked = identity("api", .empty)
        asked.isBeingRead = true
        let text = page([asked], routes: [route])
        #expect(text.contains("Requests wait for a token</strong> of api. "), "\(text)")
        #expect(text.contains("The store is asked for its session"), "\(text)")
        #expect(!text.contains("All is well") && !text.contains("Not used yet"), "\(text)")
    }

    @Test func `tells a refused reload, and is not well then`() {
        let fault = ConfigurationFault(
            file: "c.yaml", line: 3, column: 5, key: "routes[0].upstream", message: "<is missing>")
        var document = StatusDocument(
            version: "1", uptime: .seconds(7200), identities: [identity("api")], routes: [], requests: nil)
        document.refusedReload = RefusedReload(at: now, detail: "errors", faults: [fault])
        let text = Answer(
            StatusPage(document: document, samples: [], logins: [], isDraining: false, now: now).reply
        ).text
        #expect(text.contains("c.yaml:3:5: routes[0].upstream: &lt;is missing&gt;"))
        #expect(text.ranges(of: "the old configuration is in force").count == 1)
        #expect(!text.contains("All is well."))
        let restart = ReloadRefusal.restartNeeded(keys: ["store"], advice: "Put the key back.").record(
            at: now)
        #expect(restart?.reasons == ["Only a restart can change store. Put the key back."])
    }

    @Test func `shows the actions that can succeed, and who the client is`() {
        func page(_ status: SessionStatus, needsPerson: Bool = true) -> String {
            let page = StatusPage(
                document: StatusDocument(
                    version: "1", uptime: .seconds(7), identities: [status], routes: [], requests: nil),
                samples: [], logins: [],
                clients: [
                    "web": ClientFacts(
                        server: "https://sso.example.com/realms/demo", serverName: "sso.example.com",
                        clientID: "legacy", grant: "authorization_code", needsPerson: needsPerson)
                ], isDraining: false, now: now)
            return Answer(page.reply).text
        }
        let usable = page(identity("web"))
        for words in [
            "/refresh\"", "/revoke\"", "/logout\"", "class=\"danger\"", "<dd>legacy</dd>", "demo</dd>",
        ] {
            #expect(usable.contains(words), "\(words)")
        }
        #expect(usable.contains("https://sso.example.com/<wbr>realms/<wbr>demo"))
        #expect(!page(identity("web"), needsPerson: false).contains("/logout\""))
        var fresh = identity("web", .loginRequired)
        fresh.expiresAt = nil
        let empty = page(fresh)
        #expect(!empty.contains("data-action") || empty.contains("No route uses it."))
        #expect(!empty.contains("/refresh\"") && !empty.contains("/revoke\"") && !empty.contains("/logout\""))
        var busy = identity("web")
        busy.isAsking = true
        #expect(page(busy).contains("<dt>Next refresh</dt><dd>asking now</dd>"))
    }

    @Test(arguments: TokenSource.Name.allCases)
    func `offers of a source's actions the one that it has, and names the source`(_ source: TokenSource.Name)
    {
        var status = identity("web", .misconfigured)
        status.tokens = [
            TokenStatus(
                target: TokenTarget(
                    repositories: ["one", "two"], permissions: [NamedValue("contents", "read")]),
                state: .misconfigured, expiresAt: nil, lastError: nil)
        ]
        let page = StatusPage(
            document: StatusDocument(
                version: "1", uptime: .seconds(7), identities: [status],
                routes: [RouteStatus(path: "/", upstream: "http://api", identity: "web")], requests: nil),
            samples: [], logins: ["web"],
            clients: [
                "web": ClientFacts(
                    server: "/run/token", serverName: nil, clientID: "", grant: source.rawValue,
                    needsPerson: false, source: source)
            ], isDraining: false, now: now)
        let text = Answer(page.reply).text
        #expect(text.contains("/refresh\""))
        for words in ["/revoke\"", "/logout\"", "/login/web", "<dt>Issuer", "<dt>Grant", "provider refuses"] {
            #expect(!text.contains(words), "\(words)")
        }
        #expect(text.contains("<dt>Source</dt><dd><code>\(source.rawValue)</code></dd>"))
        #expect(text.contains("\(source.party) \(source.refusal)".replacing("'", with: "&#39;")))
        #expect(text.contains("repositories: one two, permissions: contents=read"))
    }

    @Test func `tells in the tab's title and icon whether something fails`() {
        let route = RouteStatus(path: "/", upstream: "http://api", identity: "api")
        #expect(page([identity("api")], routes: [route]).contains("<title>bearerd: all is well</title>"))
        let bad = page([identity("api", .misconfigured)], routes: [route])
        #expect(bad.contains("<title>✕ bearerd: something fails"))
        let doubtful = page([identity("api", .authorizationError)], routes: [route])
        #expect(doubtful.contains("<title>▲ bearerd: have a look"))
        #expect(page([]).contains("img-src data:") == false, "that is in the policy, not in the page")
    }

    @Test func `goes on telling all that it has shown, though it has grown`() {
        let shown = (0..<60).map { identity("identity-\($0)") }
        let text = page(shown)
        let count = text.ranges(of: "<article").count
        #expect(count > 10 && count < 60, "\(count)")
        let grown = shown.map { status -> SessionStatus in
            var status = status
            status.lastError = LastError(
                code: "invalid_client", detail: String(repeating: "no ", count: 130), at: now)
            return status
        }
        let later = StatusPage(
            document: StatusDocument(
                version: "1", uptime: .seconds(1), identities: grown, routes: [], requests: nil),
            samples: [], logins: [], isDraining: false, now: now)
        #expect(later.parts.contains { $0.id == "i\(count - 1)-state" })
    }

    @Test func `begins its charts with the data`() {
        let sample = TrafficHistory.Sample(end: .seconds(30), length: .seconds(10))
        let young = PageChart([sample], uptime: .seconds(60))
        #expect(young.title.markup == "The last ten minutes")
        let columns = { (chart: PageChart) in
            chart.rates("R", "c0", of: AnswerBlame.allCases).markup.split(separator: "data-values=\"")[1]
                .prefix { $0 != "\"" }.split(separator: "|", omittingEmptySubsequences: false)
        }
        #expect(columns(young).count == 60 && columns(young).filter { !$0.isEmpty }.count == 1)
        let old = PageChart([sample], uptime: .seconds(601))
        #expect(old.title.markup == "The last hour" && columns(old).count == 120)
    }

    @Test func `stays below 100 KiB whatever is in it`() {
        let long = String(repeating: "<&\"'>", count: 10)
        let longest = String(repeating: long, count: 20)
        let identities = (0..<500).map { number -> SessionStatus in
            var status = identity("\(number)\(long)", .misconfigured)
            status.personName = longest
            status.scope = [longest]
            status.lastError = LastError(code: longest, detail: longest, at: now)
            return status
        }
        var figures = RouteFigures()
        for blame in AnswerBlame.allCases { figures.answers[blame] = 1_234_567_890 }
        figures.health = .fails(longest)
        let routes = (0..<500).map { number -> RouteStatus in
            var route = RouteStatus(path: "/\(number)\(longest)", upstream: longest, identity: longest)
            route.figures = figures
            return route
        }
        let samples = (0..<360).map { number -> TrafficHistory.Sample in
            var sample = TrafficHistory.Sample(end: .seconds(3600 + number * 10), length: .seconds(10))
            for blame in AnswerBlame.allCases {
                sample.answers[blame] = 12_345 + number * 7 + blame.rawValue * 3331
            }
            sample.median = .milliseconds(12 + number)
            sample.slowest = .milliseconds(345 + number)
            return sample
        }
        let document = StatusDocument(
            version: "1", uptime: .seconds(7200), identities: identities, routes: routes, requests: nil,
            warnings: identities.map { "The provider of \($0.name) is not verified." })
        let text = Answer(
            StatusPage(
                document: document, samples: samples, logins: Set(identities.map(\.name)),
                isDraining: false, now: now
            ).reply
        ).text
        #expect(text.utf8.count <= 100 << 10, "\(text.utf8.count)")
        #expect(text.contains("more are in"))
        #expect(!text.contains("<&"))
    }

    @Test func `has a place for every part that is put in anew`() {
        let route = RouteStatus(path: "/", upstream: "http://api", identity: nil)
        let page = StatusPage(
            document: StatusDocument(
                version: "1", uptime: .seconds(1), identities: [identity("a")], routes: [route], requests: nil
            ),
            samples: [], logins: ["a"], isDraining: false, now: now)
        let text = Answer(page.reply).text
        #expect(page.parts.count == 11)
        for part in page.parts {
            #expect(text.ranges(of: "id=\"\(part.id)\"").count == 1, "\(part.id)")
            #expect(text.contains(part.content.markup))
            #expect(!part.event.dropLast(2).contains("\n\n"))
        }
    }

    @Test func `says that there was no request only where there was none`() {
        let tally = RouteTally("/")
        tally.countRequest(status: 200, duration: .milliseconds(4))
        var metrics = WorkerMetrics()
        metrics.add(tally)
        for (requests, words) in [
            (nil, "no request yet"), (RequestCounts(metrics), "none measured in this time"),
        ] {
            let document = StatusDocument(
                version: "1", uptime: .seconds(7200), identities: [], routes: [], requests: requests)
            let page = StatusPage(document: document, samples: [], logins: [], isDraining: false, now: now)
            #expect(Answer(page.reply).text.contains("<span class=\"dim\">\(words)</span>"))
        }
    }

    @Test func `keeps an hour of steps, and figures of the last minute`() throws {
        let start = ContinuousClock.now
        let passed = Mutex(Duration.zero)
        let history = TrafficHistory { start + passed.withLock { $0 } }
        let tally = RouteTally("/")
        var metrics = WorkerMetrics()
        for step in 0..<400 {
            for _ in 0..<10 { tally.countRequest(status: step < 390 ? 200 : 401, duration: .milliseconds(4)) }
            if step >= 390 { for _ in 0..<10 { tally.countTokenRefusal() } }
            metrics = WorkerMetrics()
            metrics.add(tally)
            passed.withLock { $0 = .seconds(10 * (step + 1)) }
            history.take(metrics)
        }
        let samples = history.samples
        #expect(samples.count == 360 && samples.last?.answers[.provider] == 10)
        #expect(samples.first?.answers[.nobody] == 10 && samples.first?.median != nil)
        let figures = try #require(history.figures(metrics)["/"])
        #expect(figures.requests == 4000 && figures.answers[.provider] == 100 && figures.rate == 1)
        let median = try #require(figures.median)
        #expect(median > .microseconds(2500) && median <= .milliseconds(5))
    }

    @Test func `shows no duration longer than the longest of its window, whatever came before`() throws {
        let start = ContinuousClock.now
        let passed = Mutex(Duration.zero)
        let history = TrafficHistory { start + passed.withLock { $0 } }
        let tally = RouteTally("/")
        func metrics() -> WorkerMetrics {
            var metrics = WorkerMetrics()
            metrics.add(tally)
            return metrics
        }
        // All of these are in one bucket of the histogram: 11 s to 15 s.
        for (step, seconds) in ([14] + Array(repeating: 12, count: 7)).enumerated() {
            for _ in 0..<10 { tally.countRequest(status: 200, duration: .seconds(seconds)) }
            passed.withLock { $0 = .seconds(10 * (step + 1)) }
            history.take(metrics())
            tally.endStep()
        }
        #expect(history.samples.allSatisfy { $0.slowest ?? .zero <= .seconds(12) })
        let minute = try #require(history.figures(metrics())["/"]?.slowest)
        #expect(minute > .seconds(11) && minute <= .seconds(12))
        tally.countRequest(status: 200, duration: .seconds(13))
        let now = try #require(history.samples(with: metrics()).last?.slowest)
        #expect(now <= .seconds(13))
    }

    @Test(arguments: [
        (0, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (3600, "1 h"), (7322, "2 h 2 min"), (200_000, "2 d 7 h"),
        (-5, "0 s"),
    ])
    func `tells time in two units`(seconds: Int, words: String) {
        #expect(Duration.seconds(seconds).words == words)
    }
}
