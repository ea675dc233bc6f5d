// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// `started` when the listeners are bound, `ready` when `/readyz` turns 200, and when it ceases to be.
@Suite(.blocking) struct `Lines of readiness` {
    /// The messages about the start and `/readyz`, in their order.
    private func told(by sidecar: Sidecar) -> [String] {
        sidecar.bearerd.logLines.map(\.message).filter {
            ["started", "ready", "no longer ready"].contains($0)
        }
    }

    @Test func `tell the start at once, and that it is ready when the token is there`() throws {
        let gate = Gate()
        let provider = try HostileProvider()
        provider.script({ request, provider in provider.goodAnswer(to: request).held(by: gate) })
        let sidecar = try Sidecar(provider: provider)
        let started = try sidecar.bearerd.logLine("the start") { $0.message == "started" }
        #expect(started["version"] != nil && started["workers"] != nil, "\(started.json)")
        try provider.request(1)
        #expect(try sidecar.admin("GET", "/readyz").status == 503)
        #expect(told(by: sidecar) == ["started"])
        gate.open()
        _ = try sidecar.bearerd.logLine("readiness") { $0.message == "ready" }
        #expect(try sidecar.admin("GET", "/readyz").status == 200)
    }

    @Test func `tell why it is no longer ready, and that it is again`() throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.expiresIn = "2" }
        let sidecar = try Sidecar(provider: provider)
        _ = try sidecar.bearerd.logLine("readiness") { $0.message == "ready" }
        provider.always { _, _ in .response(500) }
        let line = try sidecar.bearerd.logLine("its end") { $0.message == "no longer ready" }
        #expect(line["reason"]?.hasPrefix("default is ") == true, "\(line.json)")
        #expect(try sidecar.admin("GET", "/readyz").status == 503)
        provider.setPolicy { $0.expiresIn = "300" }
        provider.always { request, provider in provider.goodAnswer(to: request) }
        try eventually("readiness") { told(by: sidecar).count == 4 }
        #expect(told(by: sidecar) == ["started", "ready", "no longer ready", "ready"])
        #expect(try sidecar.admin("GET", "/readyz").status == 200)
    }

    @Test func `tell that a token has ended which could not be renewed, though the state has said so before`()
        throws
    {
        let provider = try HostileProvider()
        provider.setPolicy { $0.expiresIn = "4" }
        let sidecar = try Sidecar(provider: provider)
        _ = try sidecar.bearerd.logLine("readiness") { $0.message == "ready" }
        provider.always { _, _ in .oauthError("invalid_client") }
        let line = try sidecar.bearerd.logLine("its end") { $0.message == "no longer ready" }
        #expect(line["reason"] == "default is misconfigured", "\(line.json)")
        #expect(try sidecar.admin("GET", "/readyz").status == 503)
    }

    @Test func `are not written for what lasts less than a second, as a token that a reload asks for`() throws
    {
        let sidecar = try Sidecar()
        _ = try sidecar.bearerd.logLine("readiness") { $0.message == "ready" }
        try Sidecar.file(
            provider: sidecar.provider, upstream: sidecar.upstream.url, clientSecret: sidecar.clientSecret,
            directory: sidecar.directory, .init(identity: "scope: other"))
        let start = ContinuousClock.now
        #expect(try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")]).status == 200)
        try sidecar.provider.request(2)
        try eventually("readiness") { try sidecar.admin("GET", "/readyz").status == 200 }
        guard start.duration(to: .now) < .seconds(1) else { return }  // on a machine that stood still
        #expect(told(by: sidecar) == ["started", "ready"])
    }

    @Test func `wait for a person where one must log in, and follow a reload`() throws {
        let provider = try HostileProvider()
        let person = "person: {issuer: '\(provider.issuer)', client_id: app, grant_type: authorization_code}"
        let route = "- {path: /me, upstream: 'http://127.0.0.1:1', identity: person}"
        let sidecar = try Sidecar(
            provider: provider, .init(moreRoutes: route, moreIdentities: person))
        try sidecar.awaitToken()
        #expect(try sidecar.admin("GET", "/readyz").status == 503)
        #expect(told(by: sidecar) == ["started"])
        try Sidecar.file(
            provider: provider, upstream: sidecar.upstream.url, clientSecret: sidecar.clientSecret,
            directory: sidecar.directory)
        #expect(try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")]).status == 200)
        _ = try sidecar.bearerd.logLine("readiness") { $0.message == "ready" }
        #expect(told(by: sidecar) == ["started", "ready"])
    }
}
