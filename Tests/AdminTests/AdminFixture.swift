// SPDX-License-Identifier: Apache-2.0

import BearerdAdmin
import BearerdAdminAPI
import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdJSON
import BearerdSystem

@testable import OAuth

/// An admin responder with two routes and two identities at a fixed moment.
struct AdminFixture {
    let now = ContinuousClock.now
    var process = FakeProcess()
    var key: Secret?
    var needsKey = false
    var allowsQuit = false
    var failure: TokenError?
    var secondHasToken = true
    var peerUserIDs: Set<UInt32> = []
    var moreRoutes: [AdminRoute] = []
    /// The identities whose tokens come from a source.
    var sources: [String: TokenSource.Name] = [:]
    /// Who is at the other end of a TCP connection.
    var user = PeerUser.nobody
    var peer = PeerAddress.unix(user: CurrentProcess.effectiveUser, process: 1)

    func status(_ name: String, state: SessionState = .authorized, hasToken: Bool = true) -> SessionStatus {
        SessionStatus(
            name: name, state: state, generation: 3,
            expiresAt: hasToken ? WallTime(secondsSinceEpoch: 1_795_257_954) : nil,
            expiry: hasToken ? now + .seconds(60) : nil, lifetime: .seconds(300),
            scope: ["openid", "profile"],
            lastRefresh: WallTime(secondsSinceEpoch: 1_795_257_654),
            lastError: LastError(
                code: "invalid_scope", detail: "A <sentence>.", at: WallTime(secondsSinceEpoch: 1_795_257_600)
            ))
    }

    func identities() -> FakeIdentities {
        FakeIdentities(
            [status("default"), status("two words", state: .loginRequired, hasToken: secondHasToken)],
            failure: failure)
    }

    func responder(_ identities: FakeIdentities? = nil) -> AdminResponder {
        let now = now
        return AdminResponder(
            settings: AdminSettings(
                version: "1.2.3",
                routes: [
                    AdminRoute(
                        RouteScope(path: "/"), upstream: "https://api.example.com", identity: "default"),
                    AdminRoute(
                        RouteScope(path: "/b"), upstream: "http+unix:/run/b", identity: "two words"),
                    AdminRoute(
                        RouteScope(path: "/none"), upstream: "https://api.example.com", identity: nil),
                ] + moreRoutes,
                hosts: HostList(["localhost", "127.0.0.1:9090"]), key: key.map(CurrentSecret.init),
                needsKey: needsKey, peerUserIDs: peerUserIDs,
                allowsQuit: allowsQuit,
                clients: sources.mapValues {
                    ClientFacts(
                        server: nil, serverName: nil, clientID: "", grant: $0.rawValue, needsPerson: false,
                        source: $0)
                },
                warnings: ["development.provider is on"], configurationFile: "/etc/bearerd/config.yaml"),
            identities: identities ?? self.identities(), process: process,
            receivers: NoRedirectReceivers(), memory: AdminMemory(now: { now }), now: { now })
    }

    func get(
        _ target: String, host: String = "localhost:9090", _ fields: [(HTTPFields.Name, String)] = []
    ) async -> Answer {
        await send(.get, target, host: host, fields)
    }

    func send(
        _ method: HTTPMethod, _ target: String, host: String = "localhost:9090",
        _ fields: [(HTTPFields.Name, String)] = [], to identities: FakeIdentities? = nil, body: [UInt8] = []
    ) async -> Answer {
        var request = HTTPRequest(method: method, target: target)
        request.fields[.host] = host
        for (name, value) in fields { request.fields[name] = value }
        return await send(request, to: responder(identities), body: body)
    }

    func send(_ request: HTTPRequest, to responder: AdminResponder, body: [UInt8] = []) async -> Answer {
        let user = user
        return Answer(
            await responder.respond(to: ServiceRequest(head: request, body: body, peer: peer) { user }))
    }
}

/// An answer, ready to be looked at.
struct Answer {
    let status: Int
    let fields: HTTPFields
    let text: String

    init(_ reply: ServiceReply) {
        status = reply.head.status
        fields = reply.head.fields
        switch reply.body {
        case .bytes(let bytes): text = String(decoding: bytes, as: UTF8.self)
        case .stream: text = ""
        }
    }

    /// The body as JSON; nil when it is none.
    var json: JSONValue? { try? JSONValue(parsing: Array(text.utf8)) }

    /// The stable code of a problem (RFC 9457).
    var code: String? { json?["code"]?.string }
}
