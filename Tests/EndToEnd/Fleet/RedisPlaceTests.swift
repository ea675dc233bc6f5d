// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Where a store in Redis is said to be, and is not.
@Suite(.blocking, .needs(.redis))
struct `A store in Redis that is not where it should be` {
    /// What commands and doctor say.
    private func complaints(_ fleet: Fleet, at place: String) throws -> [String] {
        let status = try fleet.command(["status"], at: place)
        #expect(status.exit == 69, "\(status)")
        let report = try fleet.command(["doctor", "--check", "store"], at: place)
        #expect(report.exit != 0, "\(report)")
        return [status.errors, report.output]
    }

    @Test func `is told with the sentinels where those are at fault`() throws {
        let fleet = try Fleet()
        let nobody = try Socket.refusing().address
        for text in try complaints(
            fleet, at: "url: redis://redis.example.com\nsentinels: ['\(nobody)']\nmaster_name: fleet")
        {
            #expect(
                text.contains("redis://\(nobody)") && text.contains("store.sentinels")
                    && !text.contains("store.url"), "\(text)")
        }
        // They know a master that is not there.
        let sentinel = try RedisProcess(
            ["sentinel monitor fleet 127.0.0.1 \(nobody.port) 1"], isSentinel: true)
        for text in try complaints(
            fleet,
            at: "url: redis://redis.example.com\nsentinels: ['\(sentinel.address)']\nmaster_name: fleet")
        {
            #expect(
                text.contains("redis://\(nobody)") && text.contains("store.sentinels")
                    && !text.contains("store.url"), "\(text)")
        }
    }

    @Test(arguments: ["EVAL", "GETRANGE", "ROLE", "SET", "SUBSCRIBE"])
    func `is told where somebody has renamed a command`(command: String) throws {
        let redis = try RedisProcess(["rename-command \(command) \"\""])
        let report = try Fleet(redis).command(["doctor", "--check", "store"])
        #expect(
            report.exit != 0 && report.output.contains(command) && report.output.contains("renamed")
                && report.output.contains(redis.url), "\(report)")
    }

    @Test func `is told where it takes no more clients, or throws keys away`() throws {
        let full = try RedisProcess(["maxclients 1"])
        let monitor = try full.monitor()
        for text in try complaints(try Fleet(full), at: "url: \(full.networkURL)") {
            #expect(text.contains("maxclients") && text.contains(full.networkURL), "\(text)")
        }
        withExtendedLifetime(monitor) {}
        let small = try RedisProcess(["maxmemory 100mb", "maxmemory-policy volatile-lru"])
        let report = try Fleet(small).command(["doctor", "--check", "store"])
        #expect(report.output.contains("volatile-lru") && report.output.contains("noeviction"), "\(report)")
    }

    @Test func `is told with what a person can do where one side speaks TLS`() throws {
        let authority = try TLSAuthority()
        let fleet = try Fleet()
        for text in try complaints(
            fleet, at: "url: rediss://\(fleet.redis.address)\nca_file: \(authority.certificateFile)")
        {
            #expect(
                text.contains("speaks no TLS") && text.contains("make it redis://")
                    && text.contains("store.url"), "\(text)")
        }
        let (certificate, key) = try authority.certificate(for: ["127.0.0.1"])
        let secure = try RedisProcess(
            [
                "tls-cert-file \"\(certificate)\"", "tls-key-file \"\(key)\"",
                "tls-ca-cert-file \(authority.certificateFile)", "tls-auth-clients no",
            ], speaksTLS: true)
        for text in try complaints(fleet, at: "url: redis://\(secure.address)") {
            #expect(text.contains("TLS") && text.contains("make it rediss://"), "\(text)")
            #expect(text.contains("store.url"), "\(text)")
        }
    }
}
