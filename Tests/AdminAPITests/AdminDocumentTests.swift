// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import BearerdObservability
import OAuth
import Testing

@Suite struct `The documents of the admin listener` {
    private let error = LastError(
        code: "invalid_scope", detail: "no such scope", at: WallTime(secondsSinceEpoch: 1_795_257_600))

    private var status: StatusDocument {
        let (tally, noRoute) = (RouteTally("/"), RouteTally.forNoRoute())
        tally.countRequest(status: 200, duration: .seconds(1))
        tally.countReplay(.accepted)
        noRoute.countRequest(status: 404, duration: .seconds(1))
        var metrics = WorkerMetrics()
        metrics.add(tally)
        metrics.add(noRoute)
        metrics.countDenial(.host)
        metrics.openConnections = 7
        var identity = SessionStatus(
            name: "two words", state: .authorized, generation: 3,
            expiresAt: WallTime(secondsSinceEpoch: 1_795_257_954), scope: ["openid", "profile"],
            lastRefresh: WallTime(secondsSinceEpoch: 1_795_257_654), lastError: error,
            tokens: [
                TokenStatus(
                    target: TokenTarget(scope: ["a", "b"], audience: ["c"], resource: []),
                    state: .unavailable,
                    expiresAt: nil, lastError: error),
                TokenStatus(
                    target: TokenTarget(
                        scope: [], audience: [], resource: [], repositories: ["one", "two"],
                        permissions: [NamedValue("contents", "read"), NamedValue("issues", "write")]),
                    state: .authorized, expiresAt: nil, lastError: nil),
            ])
        identity.isServing = true
        return StatusDocument(
            version: "1.2.3", uptime: .seconds(90), identities: [identity],
            routes: [
                RouteStatus(path: "/", upstream: "https://api.example.com", identity: "two words"),
                RouteStatus(
                    RouteScope(
                        path: "/b", host: "api.test:81", methods: ["GET", "POST"], listen: "unix:/run/a"),
                    upstream: "http+unix:/run/b", upstreamProtocol: "h2", identity: nil),
            ], requests: RequestCounts(metrics), warnings: ["development.provider is on"],
            configurationFile: "/etc/bearerd/config.yaml")
    }

    @Test func `a status is read as it was written`() throws {
        let read = try #require(StatusDocument(try JSONValue(parsing: status.json.serialized())))
        #expect(read.json == status.json)
        #expect(read.identities == status.identities)
        #expect(
            read.routes.map(\.scope.words) == ["/", "/b (host api.test:81, GET or POST, at unix:/run/a)"])
        #expect(read.configurationFile == "/etc/bearerd/config.yaml")
        #expect(read.routes == status.routes && read.requests == status.requests)
        #expect(read.requests?.total == 2 && read.requests?.byStatus == [200: 1, 404: 1])
    }

    @Test func `a status of another version is read as far as it goes`() throws {
        let text =
            #"{"version":"9","identities":[{"name":"a","state":"dozing"},{"name":"b","state":"empty"}],"x":1}"#
        let read = try #require(StatusDocument(try JSONValue(parsing: text)))
        #expect(read.identities.map(\.name) == ["b"] && read.uptime == nil && read.requests == nil)
    }

    @Test func `a daemon says that it has no file, which an older one does not`() throws {
        let life = #""pid":7,"started_at":"2026-11-29T12:00:00Z","identities":[]"#
        let older = try #require(StatusDocument(try JSONValue(parsing: "{\(life)}")))
        #expect(older.daemon?.processID == 7 && !older.hasNoFile)
        let demo = try #require(
            StatusDocument(try JSONValue(parsing: "{\(life),\"configuration_file\":null}")))
        #expect(demo.hasNoFile)
        #expect(try StatusDocument(JSONValue(parsing: demo.json.serialized()))?.hasNoFile == true)
    }

    @Test(arguments: ["null", "[]", "{}", #"{"identities":1}"#])
    func `what is no status is not read as one`(text: String) throws {
        #expect(StatusDocument(try JSONValue(parsing: text)) == nil)
    }

    @Test func `reasons of readiness are read as they were written`() throws {
        let report = ReadinessReport(reasons: [.draining, .noToken(identity: "a", state: .loginRequired)])
        #expect(ReadinessReport(report.json) == report)
        #expect(report.json["ready"] == false)
        #expect(report.reasons.map(\.words) == ["draining", "a is login_required"])
        #expect(ReadinessReport(["ready": true]) == nil)
    }

    @Test func `a problem is read as it was written`() {
        let problem = AdminProblem(status: 503, code: .storeUnavailable, detail: "a \"disk\"\nis full")
        let read = AdminProblem(status: 503, reading: problem.answer.body)
        #expect(read.code == .storeUnavailable && read.detail == problem.detail)
    }

    @Test(arguments: ["", "<html>", "[]", "{}"])
    func `an answer that is no problem is told by its status`(body: String) {
        let read = AdminProblem(status: 502, reading: Array(body.utf8))
        #expect(read.code == nil && read.detail == "answered with status 502")
    }

    @Test func `what a command hands over says which server and client it is for`() throws {
        let binding = "https://sso.example.com web"
        for transfer in [
            .device(
                code: Secret("d"), verifier: Secret("v"), interval: .seconds(5), lifetime: .seconds(60),
                binding: binding),
            .device(
                code: Secret("d"), verifier: Secret("v"), interval: .seconds(5), lifetime: .milliseconds(900),
                binding: binding),
            .imported(
                refreshToken: Secret("r"), idToken: nil, scope: [], clientID: nil, person: nil,
                binding: binding),
        ] as [SessionTransfer] {
            let read = try #require(
                SessionTransfer(try JSONValue(parsing: transfer.json.serialized())))
            #expect(read.json == transfer.json)
            switch read {
            case .device(_, _, _, _, let read), .imported(_, _, _, _, _, let read):
                #expect(read == binding)
            case .code, .kept, .pending, .inquiry: Issue.record("another kind: \(read)")
            }
        }
    }

    @Test func `reports are read as they were written`() {
        let registration = RegistrationReport(
            clientID: "c", secretExpiry: WallTime(secondsSinceEpoch: 1_795_257_600))
        #expect(RegistrationReport(registration.json)?.json == registration.json)
        let revocation = RevocationReport(revoked: TokenHint.allCases)
        #expect(RevocationReport(revocation.json)?.revoked == TokenHint.allCases)
        var outcome = LogoutOutcome()
        outcome.revocation = .requested
        outcome.endSession = .notSupported
        #expect(LogoutReport(LogoutReport(outcome).json)?.json == LogoutReport(outcome).json)
        outcome.failures = Array(repeating: TokenFailure(.transient, .unreachable, detail: "away"), count: 2)
        #expect(LogoutReport(outcome).reasons.count == 1, "one that both requests have is told once")
        let login = SessionTransferReport(
            login: Login(hasRefreshToken: true, hasIDToken: false, personName: "Ada"))
        #expect(SessionTransferReport(login.json)?.json == login.json)
    }
}
