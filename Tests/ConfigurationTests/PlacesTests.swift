// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import Testing

@Suite struct `The place of a problem` {
    @Test func `all problems of a file are told at once, in its order, each with its place`() {
        let text = """
            lisen: 127.0.0.1:8080
            workers: many
            log:
              level: loud
              level: info
            identities:
              default:
                issuer: sso.example.com
                grant_type: client_credentials
                scope: [openid, "a b"]
            routes:
              - path: api
                upstrem: https://api.example.com
                identity: defalut
                methods: [get]
              - upstream: https://api.example.com
                identity: none
                authorization: [preserve]
            """
        #expect(
            report(text).lines == [
                "c.yaml:1:1: error: lisen: unknown key; did you mean 'listen'?",
                "c.yaml:2:10: error: workers: expected a whole number, found 'many'",
                "c.yaml:4:10: error: log.level: 'loud' is not one of trace, debug, info, notice, warning, error",
                "c.yaml:5:3: error: log.level: the key is there already, on line 4",
                "c.yaml:7:3: warning: identities.default.client_id: is missing: 'bearerd register' gets one, "
                    + "or configure it",
                "c.yaml:8:13: error: identities.default.issuer: 'sso.example.com' is not an http or https URL "
                    + "without a query",
                "c.yaml:10:21: error: identities.default.scope[1]: is not a scope: printable ASCII without spaces, "
                    + "'\"' and '\\'",
                "c.yaml:12:11: error: routes[0].path: must begin with '/'",
                "c.yaml:13:5: error: routes[0].upstrem: unknown key; did you mean 'upstream'?",
                "c.yaml:14:15: error: routes[0].identity: there is no identity 'defalut'; did you mean 'default'?",
                "c.yaml:15:15: error: routes[0].methods[0]: methods are upper-case: did you mean 'GET'?",
                "c.yaml:18:20: error: routes[1].authorization: expected a single value, found a list",
            ])
    }

    @Test(arguments: ["", "\n", "# nothing\n", "---\n", "{}"])
    func `an empty file lacks routes`(text: String) {
        #expect(report(text).lines == ["c.yaml:1:1: error: routes: there are none: at least one is needed"])
    }

    @Test(arguments: [
        ("[a]", "c.yaml:1:1: error: expected a map, found a list"),
        ("\n  word\n", "c.yaml:2:3: error: expected a map, found a single value"),
        ("a: [1\n", "c.yaml:2:1: error: a list in brackets, begun on line 1, that is not closed by ']'"),
        (
            "a: b: c\n",
            "c.yaml:1:5: error: a second ': ' on this line, or a line that is indented too deep; put a value that has ': ' in it in quotes"
        ),
        (
            "a:\n    b: 1\n  c: 2\n",
            "c.yaml:3:3: error: this line is indented neither as a key of the map from line 1 nor as part of a value: align it"
        ),
        ("a: \"b\n", "c.yaml:2:1: error: quotes that are not closed; they began on line 1"),
        ("a: %b\n", "c.yaml:1:4: error: a character that begins no value: put the value in quotes"),
        (
            "a: - b\n",
            "c.yaml:1:4: error: a '- ' where no list can begin: it needs a line of its own under its key"
        ),
        ("a: {b: 1\n", "c.yaml:2:1: error: a map in braces, begun on line 1, that is not closed by '}'"),
        (
            "a: \"\\q\"\n",
            "c.yaml:1:5: error: a backslash in double quotes that means nothing: use single quotes, or write it twice"
        ),
        ("a: 1\n---\nb: 2\n", "c.yaml:2:1: error: a second document; only one is read"),
    ])
    func `what is not a map is told with its place`(text: String, line: String) {
        #expect(report(text).lines.first == line)
        #expect(report(text).configuration == nil)
    }

    @Test func `a key without a value is told at the key, and an empty section is as good as none`() {
        let lines = report("workers:\ndevelopment:\n  # provider: 127.0.0.1:9000\nadmin:\n" + smallest).lines
        #expect(lines == ["c.yaml:1:1: error: workers: has no value"])
    }

    @Test(arguments: [
        ("worker", "; did you mean 'workers'?"), ("wrokers", "; did you mean 'workers'?"),
        ("limts", "; did you mean 'limits'?"), ("timeout", "; did you mean 'timeouts'?"),
        ("Listen", "; did you mean 'listen'?"), ("unsafe-listen", "; did you mean 'unsafe_listen'?"),
        ("wrkr", ""), ("x", ""), ("tl", "; did you mean 'tls'?"), ("zz", ""),
    ])
    func `a near miss is at most two edits away`(key: String, hint: String) {
        #expect(report("\(key): 1\n" + smallest).lines == ["c.yaml:1:1: error: \(key): unknown key\(hint)"])
    }

    @Test func `the other forms of a secret are near misses too`() {
        let lines = report(withIdentity("client_secret_fle: /x")).lines
        #expect(lines.first?.hasSuffix("unknown key; did you mean 'client_secret_file'?") == true)
    }

    @Test func `only secrets have other forms`() {
        let lines = report(withIdentity("client_id_file: /x")).lines
        #expect(lines.first?.contains("unknown key") == true)
    }

    @Test func `a missing file is one problem`() {
        let report = ConfigurationReport(path: "/nowhere/c.yaml", environment: { _ in nil })
        #expect(report.lines == ["/nowhere/c.yaml:1:1: error: cannot be read: No such file or directory"])
    }
}
