// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import Testing

/// Slips of the first day, each of which is told with what to write in its place.
@Suite struct `A slip in a configuration` {
    private func lines(_ text: String, environment: [String: String] = [:]) -> [String] {
        report(text, environment: environment).lines.filter { $0.contains(": error: ") }
    }

    @Test(arguments: [
        ("store: {directory: ~/sessions}\n", "store.directory"), ("listen: unix:~/socket\n", "listen"),
        ("on_state_change: [~/hook]\n", "on_state_change"),
        ("audit: {file: ~/audit.log}\n", "audit.file"),
    ])
    func `a tilde is no directory`(text: String, key: String) {
        let lines = lines(text + smallest)
        #expect(lines.count == 1 && lines.first?.contains(": error: \(key)") == true, "\(lines)")
        #expect(lines.first?.contains("begins with '~', which only a shell understands") == true, "\(lines)")
        #expect(lines.first?.contains("${HOME}") == true, "\(lines)")
    }

    @Test func `a tilde in an upstream's socket, and behind a variable, is one too`() {
        let socket = smallest.replacing("https://api.example.com", with: "http+unix:~/socket")
        #expect(lines(socket).first?.contains("only a shell understands") == true)
        let variable = lines("store: {directory: '${PLACE}'}\n" + smallest, environment: ["PLACE": "~/x"])
        #expect(variable.first?.contains("only a shell understands") == true, "\(variable)")
        #expect(lines("store: {directory: '~x/y'}\n" + smallest).isEmpty)
    }

    @Test(arguments: ["“", "‘", "„", "«"]) func `a quotation mark of print is named`(mark: String) {
        let lines = lines(smallest.replacing("client_id: app", with: "client_id: \(mark)app\(mark)"))
        #expect(
            lines == [
                "c.yaml:4:16: error: identities.default.client_id: begins with \(mark), a quotation mark of print, which is part of the "
                    + "value here; YAML's are \" and '"
            ], "\(lines)")
    }

    @Test func `a quotation mark of print inside of YAML's own is meant so`() {
        #expect(lines(smallest.replacing("client_id: app", with: "client_id: \"“app”\"")).isEmpty)
    }

    @Test func `a redirect does not come to where programs send their requests`() {
        func said(_ line: String, listen: String = "127.0.0.1:8080") -> [String] {
            report("listen: \(listen)\nadmin: {listen: 127.0.0.1:9090}\n" + withIdentity(line)).lines
        }
        let uri = "redirect_uri: http://127.0.0.1:8080/callback"
        let lines = said(uri)
        #expect(
            lines.count == 1
                && lines.first?.hasPrefix(
                    "c.yaml:8:19: warning: identities.default.redirect_uri: is at 127.0.0.1:8080 (listen)")
                    == true,
            "\(lines)")
        let listens = said("redirect_uri: https://a.example/callback\nredirect_listen: 127.0.0.1:8080")
        #expect(
            listens.count == 1 && listens.first?.contains("redirect_listen: is at") == true, "\(listens)")
        #expect(
            said(uri, listen: "0.0.0.0:8080").contains { $0.contains("redirect_uri: is at 0.0.0.0:8080") })
        for well in [
            uri.replacing("8080", with: "9090"), uri.replacing(":8080", with: ":0"), "scope: openid",
        ] {
            #expect(said(well).isEmpty, "\(said(well))")
        }
    }

    @Test func `a redirect does not come to localhost where only 127.0.0.1 is listened on`() {
        func said(_ uri: String, _ listen: String) -> [String] {
            report("admin: {listen: '\(listen)'}\n" + withIdentity("redirect_uri: \(uri)")).lines
        }
        let uri = "http://localhost:9090/callback"
        for listen in ["127.0.0.1:9090", "0.0.0.0:9090"] {
            let lines = said(uri, listen).filter { $0.contains("redirect_uri") }
            #expect(lines.count == 1 && lines.first?.contains("gets the login") == true, "\(lines)")
        }
        for listen in ["localhost:9090", "[::1]:9090", "[::]:9090", "127.0.0.1:9191"] {
            #expect(!said(uri, listen).contains { $0.contains("redirect_uri") }, "\(listen)")
        }
        #expect(said("http://127.0.0.1:9090/callback", "127.0.0.1:9090").isEmpty)
    }

    @Test func `a redirect does not come to a page of the admin listener's`() {
        func said(_ uri: String) -> [String] {
            report("admin: {listen: 127.0.0.1:9090}\n" + withIdentity("redirect_uri: \(uri)")).lines
        }
        for path in ["", "/", "/healthz", "/metrics", "/api/status", "/login/default"] {
            let lines = said("http://localhost:9090\(path)")
            let words = "error: identities.default.redirect_uri: the admin listener has a page of its own"
            #expect(lines.count == 1 && lines.first?.contains(words) == true, "\(path): \(lines)")
        }
        for well in [
            "http://127.0.0.1:9090/callback", "http://127.0.0.1:9090/back", "http://127.0.0.1:9191/",
        ] {
            #expect(said(well).isEmpty, "\(well): \(said(well))")
        }
    }

    @Test(arguments: ["scope: openid, profile", "scope: [openid, 'profile,']"])
    func `scopes are not separated by commas`(line: String) {
        let lines = lines(withIdentity(line))
        #expect(
            lines.count == 1
                && lines.first?.contains(
                    "ends with a comma, and scopes are separated by spaces, or are a list")
                    == true,
            "\(lines)")
        #expect(self.lines(withIdentity("scope: 'read,write openid'")).isEmpty)
    }

    @Test(arguments: [
        ("https://sso.example.com/.well-known/openid-configuration", "/.well-known/openid-configuration"),
        (
            "https://sso.example.com/.well-known/oauth-authorization-server/tenant",
            "/.well-known/oauth-authorization-server"
        ),
    ])
    func `an issuer is not where its metadata is`(issuer: String, rest: String) {
        let lines = lines(smallest.replacing("https://sso.example.com", with: issuer))
        #expect(
            lines == [
                "c.yaml:3:13: error: identities.default.issuer: is the address of its metadata: leave '\(rest)' away"
            ], "\(lines)")
    }
}
