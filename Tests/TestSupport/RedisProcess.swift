// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A `redis-server` of the test's own, or a sentinel; nothing of it is kept on a disk.
package final class RedisProcess: Sendable {
    /// The program; nil where it is not installed (`deploy/bootstrap redis-server`).
    package static let program = installed("redis-server")
    private static let client = installed("redis-cli") ?? "/usr/bin/redis-cli"

    /// Where it is for plain TCP, as in `127.0.0.1:6379`.
    package let address: Address
    /// Where its files are.
    package let directory: TemporaryDirectory
    private let arguments: [String]
    private let running: Monitor<Subprocess?>

    /// The arguments that authenticate `redis-cli`, once a login is required.
    private let credentials = Monitor<[String]>([])

    /// Starts one, and waits until it answers.
    ///
    /// - Parameters:
    ///   - lines: of its configuration.
    ///   - isSentinel: whether it is none but watches others.
    ///   - speaksTLS: whether it wants TLS on its port; `lines` have the certificate.
    package init(_ lines: [String] = [], isSentinel: Bool = false, speaksTLS: Bool = false) throws {
        guard let program = Self.program else { throw WireError("there is no redis-server") }
        directory = try TemporaryDirectory()
        address = try Socket.refusing().address
        let own = [
            "bind 127.0.0.1", "port \(speaksTLS ? 0 : address.port)",
            "unixsocket \(directory.path("redis.sock"))",
            "dir \(directory.path)", "daemonize no", "loglevel warning",
        ]
        let kept = isSentinel ? [] : ["save \"\"", "appendonly no", "repl-diskless-sync-delay 0"]
        let secure = speaksTLS ? ["tls-port \(address.port)"] : []
        let file = try directory.write(
            "redis.conf", (own + secure + kept + lines).joined(separator: "\n") + "\n")
        arguments = [program, file] + (isSentinel ? ["--sentinel"] : [])
        running = Monitor(nil)
        try start()
    }

    /// As it stands in `store.url`.
    package var url: String { "redis+unix:\(directory.path("redis.sock"))" }

    /// The URL over TCP.
    package var networkURL: String { "redis://\(address)" }

    /// Starts it anew, and waits until it answers; a server that was killed begins empty.
    package func start() throws {
        let process = try Subprocess(arguments)
        running.withLock { $0 = process }
        try eventually("redis-server to answer") {
            guard process.isRunning else {
                throw WireError(process.errors.withLock { $0.text } + process.output.withLock { $0.text })
            }
            let said = try self("PING")
            return said == "PONG" || said.hasPrefix("NOAUTH")
        }
    }

    /// Ends it at once.
    package func kill() throws {
        signal(SIGKILL)
        _ = try running.withLock { $0 }?.waitForEnd()
    }

    package func signal(_ number: Int32) { running.withLock { $0 }?.signal(number) }

    /// Has the commands that follow sent by this user.
    package func logIn(_ user: String, _ password: String) {
        credentials.withLock { $0 = ["--user", user, "--pass", password, "--no-auth-warning"] }
    }

    /// The commands that it is given from now on, as `redis-cli MONITOR` prints them.
    package func monitor() throws -> Subprocess {
        let monitor = try Subprocess([
            Self.client, "-s", directory.path("redis.sock"), "MONITOR",
        ])
        try monitor.output.wait(for: "the monitor") { $0.text.contains("OK\n") ? () : nil }
        return monitor
    }

    /// Has a command done; returns what redis-cli prints.
    @discardableResult
    package func callAsFunction(_ words: String...) throws -> String { try perform(words) }

    /// Has a command done; returns what redis-cli prints.
    @discardableResult
    package func perform(_ words: [String]) throws -> String {
        let options = credentials.withLock { $0 }
        let done = try Subprocess.run(
            [Self.client, "-s", directory.path("redis.sock")] + options + words)
        return done.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().joined(
            separator: "\n")
    }

    private static func installed(_ name: String) -> String? {
        ["/usr/bin/\(name)", "/usr/local/bin/\(name)"].first { TemporaryDirectory.mode(of: $0) != nil }
    }
}
