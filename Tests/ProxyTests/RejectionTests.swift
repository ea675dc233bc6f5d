// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdHTTPMessages
import OAuth
import Testing

@testable import BearerdProxy

struct `The rejection of a request` {
    @Test(arguments: [
        (ProxyError.noRoute, 404, "no_route"), (.methodNotAllowed, 405, "method_not_allowed"),
        (.methodRefused, 405, "method_not_allowed"),
        (.requestTimedOut(isHead: true), 408, "request_timeout"), (.bodyTooLarge, 413, "body_too_large"),
        (.malformedRequest(.targetTooLong), 414, "uri_too_long"), (.wrongHost, 421, "wrong_host"),
        (.rateLimited, 429, "rate_limited"), (.malformedRequest(.headTooLarge), 431, "headers_too_large"),
        (.malformedRequest(.unknownCoding), 501, "not_implemented"),
        (.malformedRequest(.unsupportedVersion), 505, "version_not_supported"),
        (.malformedRequest(.malformed), 400, "bad_request"), (.ambiguousPath, 400, "bad_request"),
        (.accessDenied(.key), 403, "access_denied"),
        (.upstreamUnavailable(.connectionRefused), 502, "upstream_connect"),
        (.upstreamProtocol, 502, "upstream_protocol"), (.upstreamSilent, 502, "upstream_protocol"),
        (.upstreamUnavailable(.tlsCertificate(.expired)), 502, "upstream_tls"),
        (
            .upstreamUnavailable(.proxy(ProxyFailure(at: nil, .answered(status: 407)))), 502,
            "upstream_connect"
        ),
        (
            .upstreamUnavailable(.proxy(ProxyFailure(at: nil, .connecting(.tlsCertificate(.expired))))), 502,
            "upstream_tls"
        ),
        (
            .upstreamUnavailable(.proxy(ProxyFailure(at: nil, .connecting(.connectionTimeout)))), 504,
            "upstream_timeout"
        ),
        (.upstreamUnavailable(.busy), 503, "upstream_busy"),
        (.upstreamUnavailable(.connectionTimeout), 504, "upstream_timeout"),
        (.uploadTimedOut, 504, "upstream_timeout"),
        (.upstreamTimedOut, 504, "upstream_timeout"), (.loginRequired, 503, "login_required"),
        (.misconfigured(retryAfter: nil), 503, "misconfigured"),
        (.providerUnavailable(retryAfter: .milliseconds(1500)), 503, "idp_unavailable"),
        (.loopDetected, 508, "loop_detected"),
    ])
    func `each failure has its status and code`(error: ProxyError, status: Int, code: String) throws {
        let rejection = try #require(Rejection(error, identity: nil))
        #expect(rejection.status == status)
        #expect(rejection.code.rawValue == code)
        let (head, body) = rejection.message()
        #expect(head.fields[.contentType] == "application/problem+json")
        #expect(head.fields[.proxyStatus]?.hasPrefix("bearerd; error=") == true)
        #expect(head.fields.contains(.retryAfter) == (status == 503 || status == 429))
        let text = String(decoding: body, as: UTF8.self)
        #expect(text.contains("\"status\":\(status)") && text.contains("\"code\":\"\(code)\""))
    }

    @Test func `what a client said is shown in plain letters or not at all`() throws {
        func body(_ error: ProxyError, _ name: HTTPFields.Name, _ value: String) throws -> String {
            var fields = HTTPFields()
            fields.append(name, value)
            let rejection = try #require(Rejection(error, identity: nil, fields: fields))
            return String(decoding: rejection.message().body, as: UTF8.self)
        }
        #expect(try body(.wrongHost, .host, "a.test:1").contains("'a.test:1'"))
        #expect(try body(.accessDenied(.origin), .origin, "http://[::1]:1").contains("'http://[::1]:1'"))
        #expect(try body(.accessDenied(.referer), .referer, "http://a.test/b").contains("'http://a.test'"))
        for value in ["a\"b", "a\\b", "a<b", "a\tb", "a\u{202E}b", "a'", String(repeating: "a", count: 300)] {
            #expect(try !body(.wrongHost, .host, value).contains(value))
            #expect(try !body(.accessDenied(.origin), .origin, "http://" + value).contains(value))
            #expect(try !body(.accessDenied(.referer), .referer, value + "://" + value).contains(value))
        }
    }

    @Test(arguments: TokenSource.Name.allCases)
    func `for want of a token names the source`(_ source: TokenSource.Name) throws {
        func detail(_ error: ProxyError) throws -> String {
            try #require(Rejection(error, identity: "key", source: source, route: "/")).detail
        }
        let refused = try detail(.misconfigured(retryAfter: nil))
        let silent = try detail(.providerUnavailable(retryAfter: nil))
        for words in [refused, silent] {
            #expect(words.hasPrefix(source.party) && !words.contains("provider"), "\(words)")
            #expect(words.hasSuffix(" (route /, identity key); see 'bearerd status'"))
        }
    }

    @Test func `of a 5xx names the route where there is one, whoever is to blame`() throws {
        func detail(_ error: ProxyError, _ route: String?) throws -> String {
            try #require(Rejection(error, identity: route.map { _ in "shop" }, route: route)).detail
        }
        #expect(
            try detail(.loopDetected, "/a")
                == "The request has come through bearerd five times (route /a, identity shop); see 'bearerd status'"
        )
        #expect(
            try detail(.tunnelUnknown, "/a").hasSuffix(" (route /a, identity shop); see 'bearerd status'"))
        #expect(
            try detail(.malformedRequest(.unknownCoding), nil)
                == "The transfer coding is unknown; see 'bearerd status'")
        #expect(try detail(.methodRefused, "/a") == "CONNECT, TRACE and TRACK are passed on to no upstream.")
    }

    @Test func `part of a second rounds up`() throws {
        let rejection = try #require(
            Rejection(.providerUnavailable(retryAfter: .milliseconds(1500)), identity: nil))
        #expect(rejection.message().head.fields[.retryAfter] == "2")
    }

    @Test func `that wants a login names the command`() throws {
        let rejection = try #require(Rejection(.loginRequired, identity: "shop"))
        #expect(rejection.detail == "Somebody must log in: run 'bearerd login shop'; see 'bearerd status'")
    }

    @Test func `that wants a login names where a browser logs in, and shows it as a page`() throws {
        let url = "http://127.0.0.1:9090/login/a%3Cb%3E"
        let rejection = try #require(Rejection(.loginRequired, identity: "<a>&\"'", loginURL: url))
        #expect(rejection.detail.hasPrefix("Somebody must log in: open \(url) in a browser, or run "))
        #expect(rejection.message().head.fields[.contentType] == "application/problem+json")
        let page = rejection.message(isForPerson: true)
        let text = String(decoding: page.body, as: UTF8.self)
        #expect(page.head.status == 503 && page.head.fields[.retryAfter] == "30")
        #expect(page.head.fields[.contentType]?.hasPrefix("text/html") == true)
        #expect(text.contains("&lt;a&gt;&amp;&quot;&#39;") && text.contains(url) && !text.contains("<a>"))
        let command = try #require(Rejection(.loginRequired, identity: "shop")).message(isForPerson: true)
        #expect(String(decoding: command.body, as: UTF8.self).contains("<code>bearerd login shop</code>"))
        // What no link mends is a problem for windows too.
        let busy = try #require(Rejection(.rateLimited, identity: nil)).message(isForPerson: true)
        #expect(busy.head.fields[.contentType] == "application/problem+json")
    }

    @Test func `nobody is answered who has gone`() {
        #expect(Rejection(.clientGone, identity: nil) == nil)
    }
}
