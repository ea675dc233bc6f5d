// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import BearerdTestSupport
import Testing

struct `Patterns of certificates' names` {
    @Test(arguments: ["app.example.com", "*.example.com", "a.*.example.com", "*", "_x.example", "A-1"])
    func `for hosts are names whose labels may be stars`(text: String) {
        #expect(CertificateNamePattern(host: text)?.text == text)
    }

    @Test(arguments: [
        "", ".", "a.", ".a", "a..b", "a*.b", "**.b", "a b", "a/b", "ä.b", "a:1",
        String(repeating: "a", count: 64),
    ])
    func `for hosts are nothing else`(text: String) {
        #expect(CertificateNamePattern(host: text) == nil)
    }

    @Test(arguments: [
        "spiffe://example.org/ns/*/sa/app", "urn:example:app", "https://*/x", "spiffe://example.org/*/*",
    ])
    func `for URIs are URIs whose segments may be stars`(text: String) {
        #expect(CertificateNamePattern(uri: text)?.text == text)
    }

    @Test(arguments: [
        "", "*", "spiffe:", "example.org/a", "/a", ":a", "1a:b", "s*://a", "spiffe://a/x*", "spiffe://a/**",
        "a:b c",
        "a:ä",
    ])
    func `for URIs are nothing else`(text: String) {
        #expect(CertificateNamePattern(uri: text) == nil)
    }

    @Test(arguments: [
        ("*.example.com", "a.example.com", true), ("*.example.com", "A.EXAMPLE.com", true),
        ("*.example.com", "example.com", false), ("*.example.com", ".example.com", false),
        ("*.example.com", "a.b.example.com", false), ("a.example.com", "*.example.com", false),
        ("a.example.com", "a.example.com.", false), ("a.example.com", "a.example.com\0.evil.test", false),
        ("*.example.com", "\u{FFFD}.example.com", false), ("a.b", "a.b ", false),
    ])
    func `for hosts fit label by label`(pattern: String, name: String, fits: Bool) throws {
        #expect(try #require(CertificateNamePattern(host: pattern)).fits(name) == fits)
    }

    @Test(arguments: [
        ("s://td/*/x", "s://td/a/x", true), ("s://td/*/x", "s://td//x", false),
        ("s://td/*/x", "s://td/./x", false),
        ("s://td/*/x", "s://td/%2e%2e/x", false), ("s://td/*", "s://td/a?b", false),
        ("s://td/*", "s://td/a#b", false),
        ("s://td/*", "s://td/a/b", false), ("s://td/x", "S://td/x", false), ("s://td/x", "s://TD/x", false),
        ("s://td/%41", "s://td/%41", true), ("urn:a:b", "urn:a:b", true), ("s://td/*", "s://td", false),
    ])
    func `for URIs fit segment by segment`(pattern: String, name: String, fits: Bool) throws {
        #expect(try #require(CertificateNamePattern(uri: pattern)).fits(name) == fits)
    }

    @Test func `fit as a comparison letter by letter says, for random names`() throws {
        var generator = RepeatableGenerator(seed: 27)
        var fitting = 0
        for _ in 0..<20_000 {
            let pattern = (0..<3).map { _ in ["a", "b", "*"].randomElement(using: &generator) ?? "" }
            let name = (0..<Int.random(in: 2...4, using: &generator)).map { _ in
                ["a", "b", "", "c"].randomElement(using: &generator) ?? ""
            }
            let fits =
                pattern.count == name.count
                && (0..<min(pattern.count, name.count)).allSatisfy {
                    pattern[$0] == name[$0] || (pattern[$0] == "*" && name[$0] != "")
                }
            fitting += fits ? 1 : 0
            let hosts = try #require(CertificateNamePattern(host: pattern.joined(separator: ".")))
            #expect(hosts.fits(name.joined(separator: ".")) == fits)
            let uris = try #require(CertificateNamePattern(uri: "s:/" + pattern.joined(separator: "/")))
            #expect(uris.fits("s:/" + name.joined(separator: "/")) == fits)
        }
        #expect(fitting > 100)
    }
}
