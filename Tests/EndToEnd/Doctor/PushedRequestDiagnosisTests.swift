// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// The check `par-dpop`.
@Suite(.blocking) struct `Doctor tells` {
    @Test func `that the provider wants pushed requests, or binds no tokens`() throws {
        var fixture = try DoctorFixture()
        fixture.settings.grant = "authorization_code"
        fixture.settings.identity = "par: false"
        fixture.provider.discovery { _, provider in
            provider.discoveryDocument(members: #","require_pushed_authorization_requests":true"#)
        }
        let demanded = try fixture.run("--check", "par-dpop")
        #expect(
            demanded.result(of: "par-dpop") == "fail" && demanded.fix(of: "par-dpop").contains("par: auto"))
        #expect(demanded.seen(by: "par-dpop").contains("pushed authorization requests alone"))
        fixture.settings.identity = ""
        let nowhere = try fixture.run("--check", "par-dpop")
        #expect(nowhere.result(of: "par-dpop") == "fail", "\(nowhere)")
        #expect(nowhere.seen(by: "par-dpop").contains("names no endpoint"), "\(nowhere)")
        fixture.settings.identity =
            "pushed_authorization_request_endpoint: \(fixture.provider.issuer)/par"
        #expect(try fixture.run("--check", "par-dpop").seen(by: "par-dpop") == "required: PAR")
        fixture.settings.identity = "dpop: true"
        fixture.provider.discovery { _, provider in provider.discoveryDocument() }
        let unbound = try fixture.run("--check", "par-dpop")
        #expect(unbound.result(of: "par-dpop") == "warn" && unbound.fix(of: "par-dpop").contains("dpop"))
    }
}
