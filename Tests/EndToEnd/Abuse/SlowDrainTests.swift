// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// A drain waits for requests, and not for clients that have none.
@Suite(.blocking) struct `A drain with clients that dawdle` {
    /// What a client has done when the drain begins, and does from then on.
    enum Client: CaseIterable {
        case sayingNothing
        case halfHead
        /// A byte of a head at a time, without end.
        case tricklingHead
        /// Half a head behind a request that was answered.
        case halfHeadLater
        /// Refused, and sending a body that nobody reads.
        case sendingOn
        /// Refused, and silent.
        case silentAfterRefusal

        var opening: String {
            switch self {
            case .sayingNothing: ""
            case .halfHead, .tricklingHead: "GET / HTTP/1.1\r\nHost: a\r\nX-A: "
            case .halfHeadLater: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\nHo"
            case .sendingOn, .silentAfterRefusal:
                "POST / HTTP/1.1\r\nHost: evil.test\r\nContent-Length: 100000000\r\n\r\nx"
            }
        }

        var goesOn: Bool { self == .tricklingHead || self == .sendingOn }
        var isAnswered: Bool { self == .halfHeadLater || self == .sendingOn || self == .silentAfterRefusal }
    }

    /// Without time-outs nothing but the drain ends their connections.
    private static let top = "workers: 1\ntimeouts: {header: 0, idle: 0}\nshutdown: {grace: 15s}"

    private func expectEnd(of sidecar: Sidecar, with wire: Wire, _ client: Client) throws {
        if client.isAnswered { _ = try wire.readResponse() }
        sidecar.bearerd.process.signal(SIGTERM)
        if client.goesOn {
            while sidecar.bearerd.process.isRunning {
                try? wire.send("x")
                try? Gate().pass(within: .milliseconds(50))
            }
        }
        #expect(try sidecar.bearerd.process.waitForEnd() == .exited(0), "\(client)")
    }

    @Test(arguments: Client.allCases)
    func `ends without them`(client: Client) throws {
        let sidecar = try Sidecar(.init(top: Self.top))
        #expect(try sidecar.get().status == 200)
        let connection = try sidecar.client()
        let host = try sidecar.bearerd.proxy
        try connection.wire.send(
            client.opening.replacing("Host: localhost", with: "Host: \(host)"))
        try eventually("the connection to be served") {
            try sidecar.metrics().sum("bearerd_open_connections") == 1
        }
        try expectEnd(of: sidecar, with: connection.wire, client)
    }

    @Test(arguments: ["", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}"])
    func `ends without those that agree on no keys`(opening: String) throws {
        let site = try SecureSite(top: Self.top)
        let client = try site.sidecar.client()
        try client.wire.send(opening)
        try eventually("the connection to be served") {
            try site.sidecar.metrics().sum("bearerd_open_connections") == 1
        }
        try expectEnd(of: site.sidecar, with: client.wire, .sayingNothing)
    }

    @Test func `serves a request that is on its way`() throws {
        // A busy machine may take longer than the drain does.
        for _ in 0..<5 {
            let sidecar = try Sidecar(.init(top: Self.top))
            let client = try sidecar.client()
            let host = try sidecar.bearerd.proxy
            try client.wire.send("GET / HTTP/1.1\r\nHost: \(host)\r\n")
            try eventually("the connection to be served") {
                try sidecar.metrics().sum("bearerd_open_connections") == 1
            }
            sidecar.bearerd.process.signal(SIGTERM)
            try eventually("the drain to begin") { (try? RawClient(to: host)) == nil }
            try? client.wire.send("\r\n")
            let answer = try? client.wire.readResponse()
            #expect(try sidecar.bearerd.process.waitForEnd() == .exited(0))
            if let answer, answer.status == 200, answer["Connection"] == "close" { return }
        }
        Issue.record("it was never served")
    }

    @Test(arguments: [Departure.closing, .resetting, .halfClosing])
    func `waits for no token that the configuration brings again, whoever asked for it and left`(
        departure: Departure
    ) throws {
        let gate = Gate()
        defer { gate.open() }
        let provider = try HostileProvider()
        let sidecar = try Sidecar(
            provider: provider, .init(top: "timeouts: {token: 60s}\nshutdown: {grace: 60s}"))
        try sidecar.awaitToken()
        provider.always { _, provider in provider.tokens().held(by: gate) }
        let client = try RawClient(to: sidecar.bearerd.admin)
        try client.send("POST", "/api/identities/default/refresh", [("X-Bearerd-Admin", "1")], body: "")
        try provider.request(2)
        departure.carryOut(on: client.wire)
        #expect(try sidecar.bearerd.terminate() == .exited(0))
    }
}
