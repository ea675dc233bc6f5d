// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdObservability
import Testing

@testable import BearerdAdmin
@testable import OAuth

/// What the status page says fails, or soon will.
struct `What the page says of trouble`: ShowsPage {
    @Test func `does not say that something fails while a token serves that cannot be renewed`() {
        let route = RouteStatus(path: "/", upstream: "http://api", identity: "api")
        var status = identity("api", .misconfigured)
        status.expiresAt = now + .seconds(3540)
        status.lastError = LastError(code: "invalid_client", detail: "no such secret", at: now)
        status.isServing = true
        let serving = page([status], routes: [route])
        #expect(serving.contains("<title>▲ bearerd: have a look"))
        #expect(serving.contains("Has a token, which cannot be renewed"))
        #expect(
            serving.contains("Not renewed:</strong>") && serving.contains("its token lasts another 59 min"))
        #expect(!serving.contains("needs a look") && !serving.contains("brings no token"))
        status.expiresAt = nil
        let endless = page([status], routes: [route])
        #expect(
            endless.contains("Has a token, which cannot be renewed") && !endless.contains("something fails"))
        status.isServing = false
        let failing = page([status], routes: [route])
        #expect(failing.contains("<title>✕ bearerd: something fails"))
        #expect(failing.contains("api: the configuration brings no token"))
    }

    @Test func `says of a session that is over what its token still does, and until when`() {
        let route = RouteStatus(path: "/", upstream: "http://api", identity: "api")
        var status = identity("api", .loginRequired)
        status.lastError = LastError(code: "invalid_grant", detail: "no longer", at: now)
        status.isServing = true
        let serving = page([status], routes: [route], logins: ["api"])
        #expect(serving.contains("<title>▲ bearerd: have a look"))
        #expect(serving.contains("Has a token; somebody must log in before it ends"))
        #expect(serving.contains("no request gets one after that unless somebody logs in"))
        status.isServing = false
        let over = page([status], routes: [route], logins: ["api"])
        #expect(
            over.contains("<title>✕ bearerd: something fails") && over.contains("api: somebody must log in"))
    }

    @Test func `judges an identity by the worst of its tokens, and tells when that one ends`() {
        let client = ClientConfiguration(name: "api", clientID: "c", grantType: .clientCredentials)
        let route = RouteStatus(path: "/", upstream: "http://api", identity: "api")
        var good = identity("api")
        good.isServing = true
        good.expiresAt = now + .seconds(3600)
        var failing = identity("api")
        failing.isServing = true
        failing.expiresAt = now + .seconds(5)
        failing.lastError = LastError(code: "http_500", detail: "it failed", at: now)
        var status = good
        status.tokens = [good, failing].map { TokenStatus(of: $0, asking: client) }
        status.summarizeTokens()
        let text = page([status], routes: [route])
        #expect(text.contains("its token lasts another 5 s") && text.contains("it failed"), "\(text)")
        #expect(!text.contains("All is well"))
        failing.state = .misconfigured
        failing.isServing = false
        status.tokens = [good, failing].map { TokenStatus(of: $0, asking: client) }
        status.summarizeTokens()
        let bad = page([status], routes: [route])
        #expect(bad.contains("<title>✕ bearerd: something fails") && !bad.contains("Has a token"), "\(bad)")
    }

    @Test func `tells of callers who bring their tokens, and offers no renewal that needs a person`() {
        var status = identity("api")
        status.needsNoToken = true
        #expect(page([status]).contains("Callers bring their tokens"))
        status.needsNoToken = false
        #expect(page([status]).contains("data-done=\"api has a new token.\""))
        status.isRenewable = false
        #expect(!page([status]).contains("data-done=\"api has a new token.\""))
    }

    @Test func `logs a certificate once before its end, and once then`() {
        let end = CertificateEnd(.upstream, name: "/a", unixSeconds: 5_000_000)
        var notices = CertificateNotices()
        let before = 5_000_000 - CertificateNotices.soon
        #expect(notices.news(of: [end], at: before) == [])
        #expect(notices.news(of: [end], at: before + 1) == [.endsSoon(end)])
        #expect(notices.news(of: [end], at: 4_999_999) == [])
        #expect(notices.news(of: [end], at: 5_000_000) == [.hasEnded(end)])
        #expect(notices.news(of: [end], at: 6_000_000) == [])
        let next = CertificateEnd(.upstream, name: "/a", unixSeconds: 6_000_009)
        #expect(notices.news(of: [next], at: 6_000_000) == [.endsSoon(next)])
        #expect(
            end.warning
                == "our certificate for the upstream of /a ends at 1970-02-27T20:53:20Z, and is refused from then on"
        )
    }

    @Test func `tells of a certificate that has ended`() throws {
        let ended = CertificateEnd(.listener, unixSeconds: 1_795_257_600)
        #expect(ended.ending(at: 1_795_257_599) == nil)
        var document = StatusDocument(
            version: "1", uptime: .seconds(1), identities: [], routes: [], requests: nil)
        document.endedCertificates = [try #require(ended.ending(at: 1_795_257_600))]
        let text = Answer(
            StatusPage(document: document, samples: [], logins: [], isDraining: false, now: now).reply
        ).text
        #expect(
            text.contains("A certificate has ended:</strong> the certificate of the listeners ended at 2026-")
        )
        #expect(text.contains("<title>✕ bearerd: something fails") && !text.contains("All is well"))
        #expect(StatusDocument(document.json)?.endedCertificates == document.endedCertificates)
    }
}
