// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// A token is put in by the route: another server, which resolves paths in its own way, must not find it elsewhere.
@Suite(.blocking, .needs(.nginx)) struct `Nginx sees no token outside of the route's path` {
    private let nginx: NginxUpstream
    private let provider: HostileProvider
    private let bearerd: BearerdProcess

    init() throws {
        nginx = try NginxUpstream(try #require(NginxUpstream.program))
        provider = try HostileProvider()
        let directory = try TemporaryDirectory()
        bearerd = try BearerdProcess(
            configuration: """
                listen: 127.0.0.1:0
                identities:
                  default:
                    token_endpoint: \(provider.tokenEndpoint)
                    client_id: legacy-app
                    client_secret: not-a-secret
                    grant_type: client_credentials
                routes:
                  - {path: /reports, upstream: "\(nginx.url)", identity: default}
                  - {path: /exact, upstream: "\(nginx.unmergedURL)", identity: default}
                  - {path: /short, upstream: "\(nginx.url)", identity: default, strip_prefix: true}
                store: {type: memory}
                """, in: directory)
    }

    private func status(_ target: String) throws -> Int {
        try RawClient(to: bearerd.proxy).request("GET", target).status
    }

    @Test func `by backslashes, by slashes that are not merged, and by their encodings`() throws {
        let before = nginx.seen.count
        for route in ["/reports", "/exact", "/short"] {
            for rest in [
                "/x\\y/../../admin/delete", "/x%5cy/../../admin/delete", "/../admin//..\(route)/x",
                "//../../admin", "/%2e%2e//admin", "/a//../../admin",
            ] {
                #expect(try status(route + rest) == 400, "\(route + rest)")
            }
        }
        #expect(nginx.seen.count == before)
        for target in ["/reports/a/../b", "/exact/a//b", "/short/reports", "/reports/x\\y"] {
            #expect(try status(target) == 200, "\(target)")
        }
        try eventually("four lines") { nginx.seen.count == before + 4 }
        #expect(
            nginx.seen.suffix(4).map(\.place) == ["/reports/b", "/exact/a//b", "/reports", "/reports/x\\y"])
    }

    @Test func `however a path is put together`() throws {
        var random = RepeatableGenerator(seed: 0x0DD5_0000_0000_0001)
        let pieces = [
            "/", "/", "/", "\\", "%5c", "%2f", "//", ";", ";x", "%3b", ".", "..", "/../", "/..", "%2e",
            ".%2E", "a",
            "admin", "reports", "exact", "%3f",
        ]
        var accepted = 0
        for _ in 0..<300 {
            var target = try #require(["/reports/", "/exact/", "/short/"].randomElement(using: &random))
            for _ in 0..<Int.random(in: 1...7, using: &random) {
                target += pieces.randomElement(using: &random) ?? ""
            }
            if try status(target) == 200 { accepted += 1 }
        }
        #expect(accepted > 30)
        // The first line is that of the wait for it to listen.
        try eventually("\(accepted) lines") { nginx.seen.count == accepted + 1 }
        for seen in nginx.seen.dropFirst() where !seen.via.isEmpty {
            let isShort = !["/reports", "/exact"].contains { seen.target.hasPrefix($0 + "/") }
            #expect(
                isShort || seen.place.hasPrefix(seen.target.hasPrefix("/exact") ? "/exact" : "/reports"),
                "\(seen)")
        }
    }
}
