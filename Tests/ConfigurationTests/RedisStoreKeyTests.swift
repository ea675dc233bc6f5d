// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import Testing

@Suite struct `A store in Redis as it is configured` {
    private static let key = String(repeating: "0", count: 64)

    private func read(_ lines: String) -> (redis: RedisConfiguration?, reasons: [String]) {
        let text =
            "store:\n  type: redis\n" + lines.split(separator: "\n").map { "  \($0)\n" }.joined() + smallest
        let report = report(text)
        let errors = report.problems.filter { $0.severity == .error }.map { "\($0.path): \($0.reason)" }
        guard case .redis(let redis)? = report.configuration?.store else { return (nil, errors) }
        return (redis, errors)
    }

    @Test(
        arguments: [
            ("redis://r.example", RedisLocation.Place.tcp(host: "r.example", port: 6379), false, nil, 0),
            ("rediss://app@R.example:7000/3", .tcp(host: "r.example", port: 7000), true, "app", 3),
            ("redis://[::1]:1/0", .tcp(host: "::1", port: 1), false, nil, 0),
            ("redis://h/", .tcp(host: "h", port: 6379), false, nil, 0),
            ("redis+unix:/run/redis/redis.sock", .unix(path: "/run/redis/redis.sock"), false, nil, 0),
        ] as [(String, RedisLocation.Place, Bool, String?, Int)])
    func `is found by its URL`(
        url: String, place: RedisLocation.Place, isEncrypted: Bool, user: String?, database: Int
    ) {
        let (redis, reasons) = read("url: '\(url)'\nencryption_key: '\(Self.key)'")
        #expect(reasons == [])
        #expect(redis?.location.place == place && redis?.location.isEncrypted == isEncrypted)
        #expect(redis?.location.user == user && redis?.location.database == database)
        #expect(redis?.keyPrefix == "bearerd:" && redis?.sentinels == [])
    }

    @Test(arguments: [
        "redis://", "http://h", "redis://h:0", "redis://h:99999", "redis://h/x", "redis://h/1/2",
        "redis://@h",
        "redis://h/99999999999999999999", "redis://h?db=1", "redis://us er@h", "h:6379",
    ])
    func `has no other URL`(url: String) {
        let reasons = read("url: '\(url)'\nencryption_key: '\(Self.key)'").reasons
        #expect(reasons.count == 1 && reasons[0].hasPrefix("store.url: is not redis://"), "\(reasons)")
    }

    @Test func `has no password in its URL, which no message repeats`() {
        let reasons = read("url: redis://app:hunter2@h\nencryption_key: '\(Self.key)'").reasons
        #expect(reasons.count == 1 && reasons[0].contains("store.password_file"))
        #expect(!reasons[0].contains("hunter2"))
    }

    @Test(arguments: [
        ("", ["store.type: store.encryption_key_file", "store: is missing"]),
        ("url: redis://h", ["store.type: store.encryption_key_file"]),
        ("url: redis://h\nca_file: /c", ["store.ca_file: means nothing without TLS"]),
        ("url: redis://h\nsentinels: ['s:26379']", ["store: is missing"]),
        ("url: redis://h\nmaster_name: m", ["store.master_name: means nothing"]),
        ("url: redis+unix:/s\nsentinels: ['s:1']\nmaster_name: m", ["store.url: is a Unix socket"]),
        ("url: redis://h\nsentinels: [s]\nmaster_name: m", ["store.sentinels[0]: 's' is not HOST:PORT"]),
        ("url: redis://h\ndirectory: /d", ["store.directory: means nothing"]),
        ("urll: redis://h", ["store.urll: unknown key; did you mean 'url'"]),
    ])
    func `says what is missing, and what means nothing`(lines: String, expected: [String]) {
        let lines =
            lines.contains("\n") || lines.hasPrefix("urll")
            ? lines + "\nencryption_key: '\(Self.key)'" : lines
        let reasons = read(lines).reasons
        for wanted in expected {
            let (path, words) = (wanted.prefix { $0 != ":" }, wanted.drop { $0 != ":" }.dropFirst(2))
            #expect(reasons.contains { $0.hasPrefix(path) && $0.contains(words) }, "\(wanted) in \(reasons)")
        }
    }

    @Test func `takes sentinels and a prefix`() {
        let (redis, reasons) = read(
            "url: redis://h/2\nencryption_key: '\(Self.key)'\nsentinels: ['a:1', 'b:2']\nmaster_name: m\nkey_prefix: x"
        )
        #expect(reasons == [])
        #expect(redis?.sentinels.map(\.description) == ["a:1", "b:2"] && redis?.masterName == "m")
        #expect(redis?.keyPrefix == "x")
    }

    @Test func `needs no URL where sentinels say where it is`() {
        let lines = "password: x\nencryption_key: '\(Self.key)'\nsentinels: ['a:1']\nmaster_name: m"
        let (redis, reasons) = read(lines)
        #expect(reasons == [] && redis?.location.isEncrypted == false && redis?.location.database == 0)
        #expect(read(lines + "\nurl: http://h").reasons.count == 1)
        #expect(read(lines + "\nca_file: /c").reasons.contains { $0.contains("rediss://") })
    }

    @Test(arguments: ["url: redis://h", "password: x", "sentinels: ['a:1']", "key_prefix: x", "ca_file: /c"])
    func `has keys that no other store has`(line: String) {
        let problems = report("store:\n  type: file\n  \(line)\n" + smallest).problems
        #expect(problems.contains { $0.reason == "needs store.type: redis" }, "\(problems)")
    }

    @Test func `is warned of where a password goes through a network in plain text`() {
        let text =
            "store:\n  type: redis\n  url: redis://h\n  password: x\n  encryption_key: '\(Self.key)'\n"
            + smallest
        let problems = report(text).problems
        #expect(
            problems.contains { $0.severity == .warning && $0.reason.contains("rediss://") }, "\(problems)")
    }
}
