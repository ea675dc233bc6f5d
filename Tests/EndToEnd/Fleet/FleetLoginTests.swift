// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

@Suite(.blocking, .needs(.redis))
struct `A login into a fleet` {
    private let redis: RedisProcess
    private let site: LoginSite
    /// Daemons on machines of their own, as far as they know.
    private let peers: [BearerdProcess]
    private let directories: [TemporaryDirectory]

    init() throws {
        redis = try RedisProcess()
        site = try LoginSite(
            store:
                "type: redis\nurl: \(redis.networkURL)\nencryption_key: \(String(repeating: "5a", count: 32))"
        )
        let text = String(decoding: TemporaryDirectory.contents(of: site.file), as: UTF8.self)
        let provider = try #require(text.firstRange(of: "development:"))
        let identities = try #require(text.firstRange(of: "identities:"))
        let plain = text[..<provider.lowerBound] + text[identities.lowerBound...]
        directories = try (0..<2).map { _ in try TemporaryDirectory() }
        peers = try directories.map { try BearerdProcess(configuration: String(plain), in: $0) }
    }

    private func generation(at daemon: BearerdProcess) throws -> Double {
        let status = try RawClient(to: daemon.admin).request("GET", "/api/status").json["identities"].array
            .first { $0["name"].string == "web" }
        return status?["state"].string == "authorized" ? status?["generation"].number ?? 0 : 0
    }

    /// The connections that read the whole session next after they were told of it, without a look whether it has changed.
    private func connectionsThatWereTold(_ lines: [Substring]) -> Set<Substring> {
        guard
            let told = lines.lastIndex(where: {
                $0.hasSuffix(" lua] \"PUBLISH\" \"bearerd:changes\" \"web\"")
            })
        else { return [] }
        var next: [Substring: Bool] = [:]
        for line in lines[told...].dropFirst() where line.contains("\"GETRANGE\" \"bearerd:session:web\"") {
            guard let connection = line.split(separator: "]").first?.split(separator: " ").last else {
                continue
            }
            if next[connection] == nil { next[connection] = line.hasSuffix("\"0\" \"\(Self.wholeRecord)\"") }
        }
        return Set(next.filter(\.value).keys)
    }

    /// The last byte that is read of a record; a look reads less.
    private static let wholeRecord = 7_340_032

    @Test func `from anywhere is everybody's within a second, who are told of it and need not ask`() throws {
        let daemons = [site.bearerd] + peers
        for daemon in daemons { try eventually("nobody") { try generation(at: daemon) == 0 } }
        // From a machine without a daemon.
        let elsewhere = try TemporaryDirectory()
        let config = try elsewhere.write(
            "config.yaml",
            String(
                decoding: TemporaryDirectory.contents(of: directories[0].path("config.yaml")), as: UTF8.self))
        var most = 0
        let isQuick = try isOnce(within: .seconds(1)) { begin in
            let before = try generation(at: daemons[0])
            let login = try Subprocess([BearerdProcess.binary, "login", "web", "--no-browser", "-c", config])
            let url = try site.firstLine(of: login)
            let monitor = try redis.monitor()
            begin()
            _ = try browse(try site.logIn(at: url))
            for daemon in daemons {
                try eventually("the login") { try generation(at: daemon) > before }
            }
            #expect(try login.waitForEnd() == .exited(0))
            try redis("ECHO", "all")
            let lines = try monitor.output.wait(for: "what was done") { capture in
                capture.text.contains("\"ECHO\" \"all\"") ? capture.text.split(separator: "\n") : nil
            }
            most = max(most, connectionsThatWereTold(lines).count)
        }
        #expect(isQuick)
        #expect(most >= daemons.count, "so many read it without having looked: \(most)")
    }
}
