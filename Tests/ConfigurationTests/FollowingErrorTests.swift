// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import Testing

/// What only follows from another error is not told beside it.
@Suite struct `An error that follows from another one` {
    private func errors(_ text: String) -> [String] {
        report(text).lines.compactMap { line in
            line.split(separator: ": ", maxSplits: 1).last.map(String.init)
        }
    }

    @Test(arguments: [
        ("identities", "identites", "unknown key; did you mean 'identities'?"),
        ("routes", "route", "unknown key; did you mean 'routes'?"),
        ("    issuer", "    isuer", "unknown key; did you mean 'issuer'?"),
        ("    client_id", "    clientid", "unknown key; did you mean 'client_id'?"),
        ("    identity", "    identitiy", "unknown key; did you mean 'identity'?"),
        ("upstream", "upstrem", "unknown key; did you mean 'upstream'?"),
    ])
    func `is left out beside a misspelt key`(key: String, misspelt: String, reason: String) {
        let found = errors(smallest.replacing("\(key):", with: "\(misspelt):"))
        #expect(found.count == 1 && found[0].hasSuffix(reason), "\(found)")
    }

    @Test(arguments: [
        // A list where a map is due.
        "identities: [a]\nroutes: [{upstream: 'https://a', identity: a}]\n",
        "identities: word\nroutes: [{upstream: 'https://a', identity: a}, {path: /b, upstream: 'https://a', identity: b}]\n",
        // Flags that are no flags.
        "listen: 0.0.0.0:8080\nunsafe_listen: maybe\n" + smallest,
        "listen: 0.0.0.0:8080\nunsafe_lisen: true\n" + smallest,
        withRoute("allow_insecure_upstream: perhaps").replacing("https://api", with: "http://api"),
        withRoute("allow_insecure_upstrem: true").replacing("https://api", with: "http://api"),
        withIdentity("allow_insecure_provider: perhaps").replacing("https://sso", with: "http://sso"),
        // What would have made plain http harmless.
        withRoute("connect_to: nowhere").replacing("https://api", with: "http://api"),
        withIdentity("connect_to: nowhere").replacing("https://sso", with: "http://sso"),
        // Two routes, of which one has a path that is none.
        smallest + "  - {path: nowhere, upstream: 'https://b', identity: none}\n",
        smallest + "  - {pth: /b, upstream: 'https://b', identity: none}\n",
        // A grant that decides what its neighbours mean.
        withIdentity("username: a", "password: b").replacing("authorization_code", with: "pasword"),
        withIdentity("preset: gogle").replacing("    issuer: https://sso.example.com\n", with: ""),
        withIdentity("token_endpoint_auth_method: client_secret_post", "client_secrt: a"),
        withIdentity("client_id: b", "client_secret: c"),
        "lisen: 127.0.0.1:1\n" + withRoute("listen: 127.0.0.1:1"),
        "listen: 0.0.0.0:1\nunsafe_listen: true\naccess: {key_file: /nowhere/key}\n" + smallest,
        "tsl: {certificate_file: /c, key_file: /k}\nlisten: 0.0.0.0:1\n" + smallest,
    ])
    func `is left out beside a value that cannot be read`(text: String) {
        let found = report(text).lines
        #expect(found.count == 1, "\(found)")
    }

    @Test func `is told where nothing else explains it`() {
        #expect(errors("workers: 2\nlog: {}\n") == ["error: routes: there are none: at least one is needed"])
        let found = errors("wrkr: 1\nroutes: [{upstream: 'https://a', identity: a}]\n")
        #expect(found.count == 2, "an unknown key that is like nothing explains nothing: \(found)")
    }

    @Test(arguments: [
        ("client_secret: s3cret", "client_secret"), ("client_secret_file: /dev/null", "client_secret_file"),
        ("client_secret_credential: s", "client_secret_credential"),
    ])
    func `is the secret of a client that is nobody`(line: String, key: String) {
        let text = withIdentity(line).replacing("    client_id: app\n", with: "")
        #expect(
            report(text).lines.contains(
                "c.yaml:2:3: error: identities.default.client_id: is missing, and \(key) is of no use without it"
            ), "\(report(text).lines)")
        #expect(report(text).configuration == nil)
    }
}
