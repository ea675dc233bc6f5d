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
