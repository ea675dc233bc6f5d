// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdRouting
import OAuth
import Testing

@Suite struct `The rules between keys` {
    @Test(arguments: ["client_secret_basic", "client_secret_post", "client_secret_jwt"])
    func `a client that is still to be registered needs no secret for its method`(method: String) {
        let line = "token_endpoint_auth_method: \(method)"
        let unregistered = smallest.replacing("client_id: app", with: line)
        #expect(errors(unregistered) == [])
        let client = report(unregistered).configuration?.identities.first?.client
        #expect(client?.authentication.rawValue == method)
        #expect(errors(withIdentity(line)).count == 1)
    }

    @Test func `a login asks for the resources of the routes that carry its tokens`() {
        let more = """
              - path: /a
                upstream: https://api.example.com
                identity: default
                resource: [https://a.example.com, https://own.example.com]
              - path: /none
                upstream: https://api.example.com
                identity: none

            """
        let text = withIdentity("resource: https://own.example.com") + more
        let identity = report(text).configuration?.identities.first
        #expect(identity?.client.resource == ["https://own.example.com"])
        #expect(identity?.client.furtherResources == ["https://a.example.com", "https://own.example.com"])
    }

    @Test(arguments: ["introspection_endpoint"])
    func `an endpoint that nothing is asked for at is warned about`(key: String) {
        let found = report(withIdentity("\(key): https://sso.example.com/x")).problems
        #expect(found.map(\.severity) == [.warning])
        #expect(found.first?.line(in: "c").contains("identities.default.\(key): is not used yet") == true)
    }

    @Test func `an endpoint that is used is not warned about`() {
        let keys = [
            "authorization", "token", "device_authorization", "userinfo", "revocation", "end_session",
            "registration",
        ]
        let lines = keys.map { "\($0)_endpoint: https://sso.example.com/\($0)" }
        #expect(report(withIdentity(lines.joined(separator: "\n"))).problems.isEmpty)
    }

    @Test(arguments: ["0.0.0.0:8080", "192.0.2.1:80", "\"[::]:80\"", "example.com:80"])
    func `a listener off loopback needs unsafe_listen`(address: String) {
        #expect(
            errors("listen: \(address)\n" + smallest) == [
                "listen: plain HTTP off loopback needs unsafe_listen: true"
            ])
        #expect(errors("listen: \(address)\nunsafe_listen: true\n" + smallest) == [])
    }

    @Test(arguments: ["127.0.0.1:0", "127.9.9.9:80", "localhost:8080", "\"[::1]:80\"", "unix:/run/x"])
    func `a listener on loopback does not`(address: String) {
        #expect(errors("listen: \(address)\n" + smallest) == [])
    }

    @Test(arguments: ["8080", "127.0.0.1", ":80", "127.0.0.1:99999", "unix:", "http://127.0.0.1:80", "[a]"])
    func `what is no address is refused`(address: String) {
        #expect(errors("listen: [\"\(address)\"]\n" + smallest).count == 1)
    }

    @Test func `a host is named, not described`() {
        let refusal = "there are no wildcards; give each host"
        #expect(
            errors("access: {hosts: ['*', '*.example.com:80']}\n" + smallest) == [
                "access.hosts[0]: '*': \(refusal)", "access.hosts[1]: '*.example.com:80': \(refusal)",
            ])
        #expect(
            errors(smallest + "    host: '*.example.com'\n") == [
                "routes[0].host: '*.example.com': \(refusal)"
            ])
    }

    @Test func `an address is listened on once`() {
        #expect(
            errors("listen: [127.0.0.1:1, 127.0.0.1:1]\n" + smallest) == [
                "listen: 127.0.0.1:1 is listened on twice"
            ])
        #expect(
            errors("listen: 127.0.0.1:9090\nadmin: {quit: false}\n" + smallest)
                == ["admin: 127.0.0.1:9090 is listened on twice"])
        #expect(errors("listen: [127.0.0.1:0, 127.0.0.1:0]\n" + smallest) == [])
    }

    @Test(arguments: [
        ("localhost:1", "127.0.0.1:1", true), ("0.0.0.0:1", "127.0.0.1:1", true),
        ("'[::1]:1'", "localhost:1", false), ("'[::]:1'", "'[::1]:1'", true),
        ("'[::ffff:127.0.0.1]:1'", "127.0.0.1:1", true), ("127.0.0.2:1", "127.0.0.1:1", false),
        ("127.0.0.2:1", "localhost:1", false), ("'[::1]:1'", "127.0.0.1:1", false),
        ("localhost:2", "127.0.0.1:1", false),
    ])
    func `an address is listened on once, however it is spelled`(data: String, admin: String, isTwice: Bool) {
        let found = errors("listen: \(data)\nunsafe_listen: true\nadmin: {listen: \(admin)}\n" + smallest)
        #expect(found.count { $0.contains("is listened on twice") } == (isTwice ? 1 : 0), "\(found)")
    }

    @Test(arguments: ["192.0.2.1:9000", "0.0.0.0:9000", "unix:/x"])
    func `the embedded provider and API are for loopback alone`(address: String) {
        for key in ["provider", "api"] {
            #expect(
                errors("development: {\(key): \"\(address)\"}\n" + smallest)
                    == ["development.\(key): must be a loopback HOST:PORT, like 127.0.0.1:9000"])
        }
    }

    @Test func `the embedded provider and API are called out`() {
        let report = report("development: {provider: 127.0.0.1:9001, api: 127.0.0.1:9002}\n" + smallest)
        #expect(report.configuration != nil)
        #expect(report.problems.map(\.severity) == [.warning, .warning])
        #expect(report.problems.map(\.path) == ["development.provider", "development.api"])
    }

    @Test func `plain http to an upstream is for loopback`() {
        let text = smallest.replacing("https://api.example.com", with: "http://api.example.com")
        let expected =
            "routes[0].upstream: plain http off loopback shows the token: "
            + "say https://, or, if it has to be, give its route allow_insecure_upstream: true in a configuration file"
        #expect(errors(text) == [expected])
        #expect(errors(text + "    allow_insecure_upstream: true\n") == [])
        #expect(errors(text + "    connect_to: 127.0.0.1:80\n") == [])
        let local = smallest.replacing("https://api.example.com", with: "http://localhost:81")
        #expect(errors(local) == [])
        #expect(errors(local + "    connect_to: 192.0.2.1:80\n") == [expected])
    }

    @Test func `plain http to a provider is for loopback`() {
        let expected =
            "plain http off loopback shows the secret: say https://, or, if it has to be, allow_insecure_provider: true"
        for key in ["issuer", "discovery_url", "token_endpoint", "jwks_uri"] {
            func text(_ url: String, _ more: String = "") -> String {
                let without = smallest.replacing(
                    "    issuer: https://sso.example.com\n", with: "    \(key): \(url)\n")
                let issuer = key == "issuer" ? "" : "    issuer: https://sso.example.com\n"
                return without.replacing("    client_id: app\n", with: "    client_id: app\n\(issuer)\(more)")
            }
            #expect(errors(text("http://sso.example.com")) == ["identities.default.\(key): \(expected)"])
            #expect(errors(text("http://sso.example.com", "    allow_insecure_provider: true\n")) == [])
            #expect(errors(text("http://sso.example.com", "    connect_to: 127.0.0.1:80\n")) == [])
            #expect(errors(text("http://127.0.0.1:80")) == [])
            #expect(
                errors(text("http://localhost", "    connect_to: keycloak:8080\n"))
                    == ["identities.default.\(key): \(expected)"])
        }
    }

    @Test(arguments: [
        ("127.0.0.1:8080", "http://127.0.0.1:8080/x", true),
        ("127.0.0.1:8080", "http://localhost:8080", true),
        ("localhost:8080", "http://127.0.0.1:8080", true), ("127.0.0.1:8080", "http://127.0.0.2:8080", false),
        ("127.0.0.1:8080", "http://[::1]:8080", false), ("\"[::1]:8080\"", "https://localhost:8080", true),
        ("127.0.0.1:8080", "http://127.0.0.1:8081", false), ("127.0.0.1:80", "http://127.0.0.1", true),
        ("0.0.0.0:8080", "http://127.0.0.1:8080", true), ("unix:/run/x", "http+unix:/run/x", true),
        ("unix:/run/x", "http+unix:/run/y", false), ("127.0.0.1:0", "http://127.0.0.1:80", false),
        ("127.0.0.1:1", "http://127.0.0.1:9090", true),
        ("127.0.0.1:1", "http://[::ffff:127.0.0.1]:9090", true),
        ("127.0.0.1:1", "http://[::ffff:7f00:1]:9090", true),
        ("127.0.0.1:1", "https://localhost.:9090", true),
        ("127.0.0.1:1", "http://[::ffff:127.0.0.2]:9090", false), ("127.0.0.1:1", "https://[::]:9090", true),
        ("'[::ffff:127.0.0.1]:8080'", "http://127.0.0.1:8080", true),
        ("'[0:0::1]:8080'", "http://[::1]:8080", true), ("'[::]:8080'", "https://[::ffff:0:0]:8080", true),
    ])
    func `an upstream is not one of our own listeners`(listen: String, upstream: String, isOwn: Bool) {
        let text =
            "listen: \(listen)\nunsafe_listen: true\nadmin:\n  listen: 127.0.0.1:9090\n"
            + smallest.replacing("https://api.example.com", with: upstream)
        #expect(errors(text).contains { $0.contains("is bearerd's own listener") } == isOwn)
    }

    @Test func `plain HTTP off loopback without a key is called out`() throws {
        func warnings(_ more: String) -> [ConfigurationProblem] {
            report(more + smallest).problems.filter { $0.severity == .warning }
        }
        let open = try #require(warnings("unsafe_listen: true\nlisten: [127.0.0.1:1, 0.0.0.0:8080]\n").first)
        #expect(open.path == "unsafe_listen")
        #expect(open.reason.contains("0.0.0.0:8080") && open.reason.contains("access.key"))
        #expect(
            warnings("listen: 0.0.0.0:8080\nunsafe_listen: true\naccess: {key: fake, hosts: [a]}\n").isEmpty)
        #expect(warnings("listen: [127.0.0.1:8080, 'unix:/x']\nunsafe_listen: true\n").isEmpty)
    }

    @Test(arguments: [
        ("0.0.0.0:8080", true), ("'[::]:8080'", true), ("192.0.2.1:8080", false), ("127.0.0.1:1", false),
    ])
    func `a listener on all addresses needs to be told what it is called`(address: String, isWarnedOf: Bool) {
        func warnings(_ access: String) -> [ConfigurationProblem] {
            report("listen: \(address)\nunsafe_listen: true\naccess: {key: fake\(access)}\n" + smallest)
                .problems
        }
        #expect(warnings("").map(\.path) == (isWarnedOf ? ["listen"] : []))
        #expect(warnings("").allSatisfy { $0.severity == .warning && $0.reason.contains("access.hosts") })
        #expect(warnings(", hosts: [bearerd]").isEmpty)
    }

    @Test(arguments: [("/nowhere/at/all/audit.log", true), ("/tmp/audit.log", false), ("/audit.log", false)])
    func `the audit needs a directory`(file: String, isWarnedOf: Bool) {
        let problems = report("audit: {file: \(file)}\n" + smallest).problems
        #expect(problems.contains { $0.path == "audit.file" && $0.severity == .warning } == isWarnedOf)
    }

    @Test(arguments: [
        ("127.0.0.1:8080", true), ("[127.0.0.1:8080, '[::1]:8080']", true),
        ("[127.0.0.1:8080, 'unix:/x']", false), ("systemd:a", false), ("fd:3", false),
    ])
    func `users are listed for Unix sockets alone`(listen: String, isWarnedOf: Bool) {
        let problems = report("listen: \(listen)\naccess: {peer_uids: [1000]}\n" + smallest).problems
        #expect(problems.contains { $0.path == "access.peer_uids" && $0.severity == .warning } == isWarnedOf)
        #expect(!problems.contains { $0.severity == .error && $0.path.hasPrefix("access") }, "\(problems)")
    }

    @Test func `what is connected to counts for that`() {
        #expect(errors(withRoute("connect_to: localhost:8080")).first?.contains("own listener") == true)
        let mapped = withRoute("connect_to: '[::ffff:127.0.0.1]:8080'")
        #expect(errors(mapped).first?.contains("own listener") == true)
    }

    @Test func `an identity of a route exists`() {
        #expect(
            errors(smallest.replacing("identity: default", with: "identity: other"))
                == ["routes[0].identity: there is no identity 'other'"])
        #expect(
            errors(smallest.replacing("    identity: default\n", with: ""))
                == ["routes[0].identity: is missing: name one, or 'none' to forward without a token"])
    }

    @Test(arguments: [(107, 0), (108, 1)])
    func `an upstream's socket fits into the kernel's address`(length: Int, problems: Int) {
        let url = "http+unix:/" + String(repeating: "x", count: length - 1)
        #expect(errors(smallest + "  - {path: /b, upstream: '\(url)', identity: none}\n").count == problems)
    }

    @Test func `a header is set to one value, and may have more than one added`() {
        #expect(
            errors(withRoute("request_headers: {set: {X-A: a, x-a: b}, add: {X-B: a, x-b: b}}")) == [
                "routes[0].request_headers.set.x-a: is set already: headers' names have no case"
            ])
    }

    @Test func `no two routes select the same requests`() {
        func second(_ lines: String) -> [String] {
            errors(smallest + "  - {upstream: https://b.example.com, identity: none\(lines)}\n")
        }
        #expect(second("") == ["routes[1]: selects the same requests as routes[0] on line 7"])
        #expect(second(", methods: [GET]").count == 1)
        #expect(second(", host: app") == [])
        #expect(second(", path: /api") == [])
        let two =
            smallest + "    path: /api/\n  - {path: /api, upstream: https://b.example.com, identity: none}\n"
        #expect(errors(two).count == 1)
        for (path, other) in [("/ü", "/%c3%bc/"), ("/a%7cb", "/a%7Cb"), ("/a|b", "/a%7cb")] {
            let twins =
                smallest
                + "    path: \(path)\n  - {path: \"\(other)\", upstream: https://b.e, identity: none}\n"
            #expect(errors(twins).count == 1, "\(other)")
        }
        let split =
            withRoute("methods: [GET]") + "  - {methods: [POST], upstream: https://b.e, identity: none}\n"
        #expect(errors(split) == [])
    }

    @Test func `a route's listener is one of the listeners`() {
        #expect(
            errors(withRoute("listen: 127.0.0.1:81"))
                == ["routes[0].listen: is none of the listeners (127.0.0.1:8080)"])
        #expect(errors(withRoute("listen: 127.0.0.1:8080")) == [])
    }

    @Test(arguments: [
        "/a//b", "/a/../b", "/a/.", "/a;b", "/%61", "/a?b", "/a#b", "\"/a b\"", "\"\"", "/a%3Ab", "/a%2a",
        "/a%00b", "/a%3f", "/a%23b", "\"/a?\u{301}\"",
    ])
    func `a route's path is in its plain form`(path: String) {
        #expect(errors(withRoute("path: \(path)")).count == 1)
    }

    @Test(arguments: [
        "/", "/a", "/a/", "/a.b/c", "/a%20b", "/.well-known", "/ü", "/%c3%bc", "/a|b", "/a:b,c",
    ])
    func `a route's path stays as it is written`(path: String) {
        #expect(report(withRoute("path: \(path)")).configuration?.routes.first?.key.path == path)
    }

    @Test(arguments: [
        "methods: [TRACE]", "methods: [\"*\"]", "allow: [{methods: ['*'], path: /}]",
        "allow: [{path: /a/%2e%2e}]",
        "methods: [CONNECT]", "methods: []", "methods: [\"A B\"]", "header: Host",
        "header: Content-Length", "header: \"a b\"", "scheme: \"a b\"", "retry_on_status: [200]",
        "retry_on_status: 401",
        "replay_buffer: 1TiB", "forwarded: yes please", "via: maybe", "authorization: keep",
        "on_no_token: drop",
        "host_header: \"a b\"", "upgrade: [\"a b\"]", "upgrade: [a/]", "upgrade: [a/b/c]", "strip_prefix: 1",
        "request_headers: {set: {Authorization: x}}",
        "request_headers: {set: {Host: x}}", "request_headers: {add: {Connection: x}}",
        "response_headers: {remove: [Content-Length]}", "request_headers: {set: [a]}",
        "request_headers: {drop: [a]}",
        "request_headers: {set: {\"a b\": c}}", "request_headers: {set: {X-A: \"a\\nb\"}}",
        "timeouts: {header: 1s}", "timeouts: {half_closed: 1s}", "timeouts: {token: 1s}",
        "timeouts: {connect: 1}", "proxy: ftp://proxy",
        "proxy: proxy:80", "connect_to: host", "connect_to: host:0", "insecure_skip_verify: true",
        "client_certificate_file: /nowhere", "client_key_file: /nowhere", "ca_file: /nowhere",
    ])
    func `a route's other rules`(line: String) {
        #expect(!errors(withRoute(line)).isEmpty)
    }

    @Test func `a route's token is asked for what the route says, else what the identity says`() throws {
        let client = try #require(report(withIdentity("scope: a b")).configuration?.identities.first?.client)
        let route = try #require(report(withRoute("audience: x")).configuration?.routes.first)
        let aimed = client.aimed(at: try #require(route.target))
        #expect(aimed.scope == ["a", "b"] && aimed.audience == ["x"] && aimed.resource.isEmpty)
        #expect(client.aimed(at: client.target) == client)
        let nobody = smallest + "  - {path: /b, upstream: https://b.e, identity: none, scope: a}\n"
        #expect(errors(nobody).first?.contains("means nothing to a route without an identity") == true)
        #expect(errors(withRoute("resource: not-a-uri")).count == 1)
    }

    @Test(arguments: [
        "token_endpoint_auth_method: client_secret_basic", "token_endpoint_auth_method: client_secret_post",
        "token_endpoint_auth_method: basic", "basic_encoding: base64", "grant_type: implicit",
        "token_params: {grant_type: x}", "token_params: {scope: x}", "token_params: {client_secret: x}",
        "token_params: {\"\": x}", "token_headers: {content-type: x}", "token_headers: {authorization: x}",
        "token_headers: {\"a b\": x}", "default_expires_in: 0", "refresh_margin: soon", "resource: not-a-uri",
        "resource: https://a/#b", "insecure_skip_verify: 1", "scope: [[a]]", "token_params: [a]",
        "token_endpoint: ftp://x", "token_endpoint: /token", "connect_to: unix:/x",
        "client_secret: s\ntoken_endpoint_auth_method: none",
        "authorization_params: {state: x}", "authorization_params: {response_mode: fragment}",
        "authorization_params: {\"\": x}", "redirect_uri: callback",
        "redirect_uri: https://127.0.0.1/callback",
        "redirect_uri: http://app.example.com/callback", "redirect_uri: http://127.0.0.1:0/#a",
        "redirect_listen: unix:/x", "redirect_listen: 8400", "clock_skew: soon",
    ])
    func `an identity's other rules`(line: String) {
        #expect(!errors(withIdentity(line)).isEmpty)
    }

    @Test(arguments: ["300s", "\" 300\"", "300.0", "-1", "+1", "\"\"", "9223372036854775808"])
    func `max_age is a number of seconds, or nothing would check it`(age: String) {
        let place = "identities.default.authorization_params.max_age"
        let report = report(withIdentity("authorization_params: {max_age: \(age)}"))
        #expect(report.problems.map(\.path) == [place] && report.configuration == nil)
        #expect(report.errorLines.first?.contains("whole number of seconds") == true)
        #expect(errors(withIdentity("authorization_params: {max_age: 300}")).isEmpty)
    }

    @Test(arguments: ["none", "a/b", "\"\"", ".a", "\"a b\"", "ü"])
    func `an identity's name fits a URL and a file`(name: String) {
        #expect(errors(smallest.replacing("  default:", with: "  \(name):")).contains { $0.contains("name") })
    }

    @Test(arguments: [
        "workers: 0", "workers: 1.5", "workers: \"2\"", "unsafe_listen: 1", "unsafe_listen: truee",
        "listen: []",
        "access: {hosts: []}", "access: {peer_uids: []}", "access: {key: \"a\\nb\"}", "access: {key: \" a\"}",
        "access: {key: \"a \"}", "admin: {key: \"a\\tb\"}",
        "access: {peer_uids: [-1]}", "access: {peer_uids: [root]}", "access: {origins: [example.com]}",
        "access: {origins: [https://a/b]}", "access: {origins: ['https://*.a.com']}",
        "access: {hosts: [http://a]}", "access: {hosts: localhost}",
        "limits: {connections: 0}", "limits: {requests_per_second: -1}", "timeouts: {token: 0}",
        "timeouts: {token_wait: 0}", "shutdown: {grace: fast}", "log: {format: xml}", "log: {access: 2}",
        "admin: {listen: [127.0.0.1:1]}", "admin: {quit: perhaps}", "store: {type: disk}",
        "store: {type: memory, directory: /x}", "store: file", "identities: []", "routes: {}", "access: [a]",
    ])
    func `the file's other rules`(line: String) {
        #expect(!errors(line + "\n" + smallest).isEmpty)
    }

    @Test func `insecure_skip_verify and h2c are warned of`() {
        let report = report(withIdentity("insecure_skip_verify: true") + "    upgrade: [websocket, h2c]\n")
        #expect(report.configuration != nil)
        #expect(report.problems.map(\.severity) == [.warning, .warning])
        #expect(
            report.problems.map(\.path) == [
                "identities.default.insecure_skip_verify", "routes[0].upgrade[1]",
            ])
    }

    private func errors(_ text: String) -> [String] {
        report(text).problems.filter { $0.severity == .error }.map { "\($0.path): \($0.reason)" }
    }
}
