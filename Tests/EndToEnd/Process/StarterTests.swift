// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// The configurations to begin with, in deploy/starters, with this machine's addresses put in.
@Suite(.blocking) struct `A starter configuration` {
    private let provider: HostileProvider
    private let upstream: RawUpstream
    private let directory: TemporaryDirectory

    init() throws {
        (provider, upstream, directory) = (try HostileProvider(), try RawUpstream(), try TemporaryDirectory())
    }

    /// The text of one of them with our own provider, upstream and files in place of those that it names.
    private func configuration(
        _ name: String, files: [String: String] = [:], listen: String = "listen: 127.0.0.1:8080",
        upstream: String? = nil
    ) throws -> String {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
        let bytes = TemporaryDirectory.contents(of: "\(root)/deploy/starters/\(name).yaml")
        var text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasPrefix("# yaml-language-server: $schema=bearerd.schema.json\n"))
        var replaced = [
            "https://sso.example.com/realms/demo": provider.issuer,
            "https://api.example.com": upstream ?? self.upstream.url,
            listen: listen.replacing("8080", with: "0"), "listen: 127.0.0.1:9090": "listen: 127.0.0.1:0",
            "/var/lib/bearerd": directory.path("store"),
        ]
        for (path, content) in files {
            replaced[path] = try directory.write("file-\(replaced.count)", content)
        }
        for (old, new) in replaced {
            #expect(text.contains(old) || old == "/var/lib/bearerd", "\(old)")
            text = text.replacing(old, with: new)
        }
        return text
    }

    private func passes(_ bearerd: BearerdProcess) throws {
        try eventually("a token") {
            try RawClient(to: bearerd.proxy).request("GET", "/orders").status == 200
        }
        #expect(try upstream.request()["Authorization"]?.hasPrefix("Bearer ") == true)
    }

    @Test func `for a client with a secret serves`() throws {
        let secret = "secret-" + randomText()
        let text = try configuration("secret", files: ["/etc/bearerd/client_secret": secret])
        try passes(BearerdProcess(configuration: text, in: directory))
        #expect(try provider.request(1)["grant_type"] == "client_credentials")
    }

    @Test func `for gRPC serves calls over HTTP/2 alone, with a token`() throws {
        let service = try HTTP2Upstream { peer, event, stream in
            guard event == .head || event == .end, stream.hasEnd else { return }
            try peer.send(
                .head(
                    [(":status", "200"), ("content-type", "application/grpc")], stream: stream.id,
                    endsStream: false),
                .data("answer", stream: stream.id),
                .head([("grpc-status", "0")], stream: stream.id, endsStream: true))
        }
        let secret = "secret-" + randomText()
        let text = try configuration(
            "grpc", files: ["/etc/bearerd/client_secret": secret], listen: "address: 127.0.0.1:8080",
            upstream: service.url)
        let bearerd = try BearerdProcess(configuration: text, in: directory)
        try eventually("a token") { try RawClient(to: bearerd.admin).request("GET", "/readyz").status == 200 }
        let client = try HTTP2Client(to: bearerd.proxy)
        let answer = try client.request(
            "POST", "/orders.Orders/List", [("content-type", "application/grpc"), ("te", "trailers")],
            body: "request")
        #expect(answer.status == 200 && answer.text == "answer" && answer.trailers == ["grpc-status": "0"])
        let stream = try #require(service.streams.first)
        #expect(stream["authorization"]?.hasPrefix("Bearer ") == true && stream.text == "request")
        #expect(try RawClient(to: bearerd.proxy).request("GET", "/").status == 505)
    }

    @Test func `for a workload serves with the platform's token`() throws {
        let text = try configuration("workload", files: ["/run/secrets/tokens/token": "fake.platform.token"])
        try passes(BearerdProcess(configuration: text, in: directory))
        #expect(try provider.request(1)["client_assertion"] == "fake.platform.token")
    }

    @Test func `for a person says where to log in, and serves with the session`() throws {
        let key = String(repeating: "5a", count: 32)
        let text = try configuration("person", files: ["/etc/bearerd/store_key": key])
        let bearerd = try BearerdProcess(configuration: text, in: directory)
        let before = try RawClient(to: bearerd.proxy).request("GET", "/orders")
        #expect(before.status == 503 && before.json["code"].string == "login_required")
        #expect(before.json["detail"].string?.contains("/login/me") == true)
        let token = try directory.write("refresh", provider.makeRefreshToken())
        let imported = try BearerdProcess.command(
            "import", "me", "--refresh-token", token, "-c", directory.path("config.yaml"))
        #expect(imported.exit == 0, "\(imported.errors)")
        try passes(bearerd)
        #expect(try provider.request(1)["grant_type"] == "refresh_token")
    }
}
