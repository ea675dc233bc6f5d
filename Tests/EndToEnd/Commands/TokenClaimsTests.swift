// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// `bearerd token --claims`.
@Suite(.blocking) struct `The claims of a token` {
    @Test func `are what a JWT says, without the token`() throws {
        let site = try LoginSite()
        try site.begin()
        let claims = try site.run("token", "web", "--claims")
        let json = try #require(TestJSON(parsing: claims.output), "\(claims)")
        #expect(claims.ending == .exited(0) && json["iss"].string == site.issuer, "\(claims)")
        let token = try site.run("token", "web").output
        for part in token.split(separator: ".") { #expect(!claims.output.contains(part)) }
        let identity = try site.run("token", "web", "--id-token", "--claims")
        #expect(TestJSON(parsing: identity.output)?["aud"].string == "web", "\(identity)")
        #expect(try site.run("token", "web", "--claims", "--header").ending == .exited(64))
    }

    @Test func `of an opaque token are 65, and nothing is printed`() throws {
        let (provider, directory) = (try HostileProvider(), try TemporaryDirectory())
        let file = try Sidecar.file(provider: provider, directory: directory)
        let result = try BearerdProcess.command("token", "--claims", "-c", file)
        #expect(result.exit == 65 && result.output.isEmpty && result.errors.contains("opaque"), "\(result)")
        #expect(LeakScan.leaks(of: provider.handedOut, in: result.errors).isEmpty)
    }
}
