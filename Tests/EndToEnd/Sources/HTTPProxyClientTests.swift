// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Clients that can set only `http_proxy` reach the hosts that routes name.
@Suite(.blocking) struct `A client that takes bearerd for its HTTP proxy` {
    /// bearerd with a route for `api.example.com` whose upstream speaks TLS.
    private final class Site: Sendable {
        let directory: TemporaryDirectory
        let upstream: RawUpstream
        let bearerd: BearerdProcess

        init(access: String = "", more: String = "") throws {
            directory = try TemporaryDirectory()
            let authority = try TLSAuthority()
            upstream = try RawUpstream(tls: authority.server(for: ["localhost"])) { request in
                .ok("\(request.head.method) \(request.head.target) \(request.text)")
            }
            try directory.write("token", "proxied-token")
            // The upstream stands for the host's own server, whose certificate it has.
            bearerd = try BearerdProcess(
                configuration: """
                    listen: 127.0.0.1:0
                    admin: {listen: 127.0.0.1:0}
                    identities:
                      default: {source: static, token_file: token}
                    routes:
                      - {host: api.example.com, upstream: \(upstream.url), ca_file: \(authority.certificateFile), identity: default}
                      - {host: "10.1.2.3:8443", upstream: \(upstream.url), ca_file: \(authority.certificateFile), identity: default}
                    \(indented(more, by: 2))
                    store: {type: memory}
                    \(access)
                    """, in: directory)
            withExtendedLifetime(authority) {}
        }

        func exchange(_ head: String) throws -> RawResponse {
            try RawClient(to: bearerd.proxy).exchange(head + "\r\n\r\n")
        }
    }

    private func run(
        _ words: [String], environment: [String: String] = [:]
    ) throws -> (output: String, errors: String, isWell: Bool) {
        let result = try Subprocess.run(words, environment: environment)
        return (result.output, result.errors, result.ending == .exited(0))
    }

    @Test func `is upgraded to the route's https upstream, with the token`() throws {
        let site = try Site()
        let answer = try site.exchange(
            "GET http://api.example.com/a?b=c HTTP/1.1\r\nHost: api.example.com\r\nProxy-Connection: Keep-Alive\r\n"
                + "Proxy-Authorization: Basic eDp5\r\nAuthorization: Bearer mine")
        #expect(answer.status == 200 && answer.text.hasPrefix("GET /a?b=c"))
        let request = try site.upstream.request()
        #expect(request["Authorization"] == "Bearer proxied-token")
        #expect(request.head.values("Proxy-Authorization").isEmpty)
        #expect(request["Host"]?.hasPrefix("localhost:") == true)
    }

    @Test func `may name the host with any port, beside access_hosts, and no other host`() throws {
        for access in ["", "access: {hosts: [only.example]}"] {
            let site = try Site(access: access)
            for host in ["api.example.com", "API.example.com:80", "api.example.com:8080", "api.example.com."]
            {
                let answer = try site.exchange("GET http://\(host)/ HTTP/1.1\r\nHost: \(host)")
                #expect(answer.status == 200, "\(host): \(answer.text)")
            }
            for host in ["example.com", "api.example.com.evil.example", "xapi.example.com"] {
                let answer = try site.exchange("GET http://\(host)/ HTTP/1.1\r\nHost: \(host)")
                #expect(answer.status == 421, "\(host)")
            }
            // Another port than the route's is one of the listener's names, and no route's.
            let other = try site.exchange("GET http://10.1.2.3/ HTTP/1.1\r\nHost: 10.1.2.3")
            #expect(other.status == 404)
            #expect(
                other.json["detail"].string
                    == "No route has this path for the host '10.1.2.3'; routes of this path are for api.example.com, 10.1.2.3:8443."
            )
            let own = try site.exchange("GET http://10.1.2.3:8443/ HTTP/1.1\r\nHost: 10.1.2.3:8443")
            #expect(own.status == 200)
        }
    }

    @Test func `is told which hosts have routes, by a 404 for another name of the listener`() throws {
        let many = (1...7).map {
            "- {host: \"h\($0).example\", path: /many, upstream: \"http://127.0.0.1:1\", identity: none}"
        }
        let site = try Site(more: many.joined(separator: "\n"))
        let host = "\(try site.bearerd.proxy)"
        let answer = try site.exchange("GET /a HTTP/1.1\r\nHost: \(host)")
        #expect(answer.status == 404 && answer.json["code"].string == "no_route")
        #expect(
            answer.json["detail"].string
                == "No route has this path for the host '\(host)'; routes of this path are for api.example.com, 10.1.2.3:8443."
        )
        let cut = try site.exchange("GET /many/a HTTP/1.1\r\nHost: \(host)").json["detail"].string
        #expect(
            cut?.hasSuffix(
                "for api.example.com, 10.1.2.3:8443, h1.example, h2.example, h3.example and others.") == true)
    }

    @Test func `never reaches the admin listener by such a name`() throws {
        let site = try Site()
        let answer = try RawClient(to: site.bearerd.admin).exchange(
            "GET /api/status HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
        #expect(answer.status == 421)
    }

    @Test func `is told by CONNECT's 405 to use an http URL`() throws {
        let site = try Site()
        let answer = try site.exchange("CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443")
        #expect(answer.status == 405 && answer.json["code"].string == "method_not_allowed")
        #expect(answer.json["detail"].string?.contains("http://") == true)
        let other = try site.exchange("CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443")
        #expect(other.status == 405 && other.json["code"].string == "method_not_allowed")
        #expect(!other.text.contains("http:// URL"))
        let line = try site.bearerd.logLine("the line of the refused tunnel") {
            $0["path"] == "api.example.com:443"
        }
        #expect(line["method"] == "CONNECT" && line["status"] == "405")
        #expect(line["code"] == "method_not_allowed")
        #expect(site.upstream.requests.isEmpty)
    }

    @Test func `gets a redirect to the host back as an http URL`() throws {
        let site = try Site()
        site.upstream.answer { request in
            .response(302, [("Location", "https://\(request["Host"] ?? "")/next?x")])
        }
        let answer = try site.exchange("GET http://api.example.com/ HTTP/1.1\r\nHost: api.example.com")
        #expect(answer["Location"] == "http://api.example.com/next?x")
    }

    @Test(.needs(Needs(orElse: "there is no curl") { access("/usr/bin/curl", X_OK) == 0 }))
    func `can be curl`() throws {
        let site = try Site()
        let proxy = "http://\(try site.bearerd.proxy)"
        let answer = try run(
            ["curl", "-sS", "--max-time", "60", "-d", "body", "http://api.example.com/curl"],
            environment: ["http_proxy": proxy, "PATH": "/usr/bin:/bin"])
        #expect(answer.output == "POST /curl body", "\(answer.errors)")
        let tunnel = try run(
            ["curl", "-sS", "--max-time", "60", "https://api.example.com/"],
            environment: ["https_proxy": proxy, "PATH": "/usr/bin:/bin"])
        #expect(!tunnel.isWell && tunnel.errors.contains("405"), "\(tunnel.errors)")
    }

    @Test(.needs(Needs(orElse: "there is no Python with requests") { Self.hasRequests }))
    func `can be Python's requests`() throws {
        let site = try Site()
        let program = """
            import requests
            s = requests.Session()
            print(s.get('http://api.example.com/python', timeout=60).text, end='')
            print(s.post('http://api.example.com/again', data='x=1', timeout=60).text, end='')
            """
        let answer = try run(
            ["python3", "-c", program],
            environment: [
                "http_proxy": "http://\(try site.bearerd.proxy)", "PATH": Self.path, "HOME": "/root",
            ])
        #expect(answer.output == "GET /python POST /again x=1", "\(answer.errors)")
        #expect(
            site.upstream.requests.map { $0["Authorization"] } == [
                "Bearer proxied-token", "Bearer proxied-token",
            ])
    }

    @Test(.needs(Needs(orElse: "there is no Java with a compiler") { Self.hasJava }))
    func `can be Java's client`() throws {
        let site = try Site()
        let file = try site.directory.write(
            "Ask.java",
            """
            import java.net.*;
            import java.net.http.*;
            public class Ask {
              public static void main(String[] words) throws Exception {
                HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
                  .proxy(ProxySelector.of(new InetSocketAddress("127.0.0.1", Integer.parseInt(words[0])))).build();
                HttpRequest request = HttpRequest.newBuilder(URI.create("http://api.example.com/java"))
                  .POST(HttpRequest.BodyPublishers.ofString("body")).build();
                System.out.print(client.send(request, HttpResponse.BodyHandlers.ofString()).body());
                HttpURLConnection old = (HttpURLConnection) new URL("http://api.example.com/old").openConnection(
                  new Proxy(Proxy.Type.HTTP, new InetSocketAddress("127.0.0.1", Integer.parseInt(words[0]))));
                System.out.print(" " + old.getResponseCode());
              }
            }
            """)
        let port = String("\(try site.bearerd.proxy)".split(separator: ":").last ?? "")
        let answer = try run(["java", file, port], environment: ["PATH": Self.path])
        #expect(answer.output == "POST /java body 200", "\(answer.errors)")
    }

    private static let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"

    private static var hasRequests: Bool {
        (try? Subprocess.run(
            ["python3", "-c", "import requests"], environment: ["PATH": path, "HOME": "/root"]))?
            .ending == .exited(0)
    }

    private static var hasJava: Bool {
        (try? Subprocess.run(["java", "--list-modules"], environment: ["PATH": path]))?
            .output.contains("jdk.compiler") ?? false
    }
}
