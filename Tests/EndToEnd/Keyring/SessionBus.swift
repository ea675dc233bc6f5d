// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc

/// A session bus of the test's own, which starts no service by itself, and a gnome-keyring on it where one is wanted.
final class SessionBus: Sendable {
    /// True if everything is installed (`deploy/bootstrap`, see the Makefile).
    fileprivate static let isInstalled = [
        "dbus-daemon", "dbus-send", "dbus-monitor", "gnome-keyring-daemon", "secret-tool",
    ]
    .allSatisfy { TemporaryDirectory.mode(of: "/usr/bin/\($0)") != nil }

    private static let password = "not-a-real-password"

    let directory: TemporaryDirectory
    private let bus: Subprocess
    private let keyring = Monitor<Subprocess?>(nil)

    init() throws {
        directory = try TemporaryDirectory()
        let file = try directory.write(
            "bus.conf",
            """
            <busconfig><type>session</type><listen>unix:path=\(directory.path("bus"))</listen><auth>EXTERNAL</auth>
            <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
            <allow own="*"/></policy></busconfig>
            """)
        mkdir(directory.path("home"), 0o700)
        bus = try Subprocess(["/usr/bin/dbus-daemon", "--config-file=\(file)", "--nofork", "--nopidfile"])
        try eventually("the bus to listen") { TemporaryDirectory.mode(of: directory.path("bus")) != nil }
    }

    /// The environment in which programs find the bus.
    var environment: [String: String] {
        [
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(directory.path("bus"))",
            "XDG_RUNTIME_DIR": directory.path, "HOME": directory.path("home"),
            "XDG_DATA_HOME": directory.path("data"), "LC_ALL": "C.UTF-8",
        ]
    }

    /// Starts a gnome-keyring, and waits until it keeps secrets.
    ///
    /// - Parameter isUnlocked: whether somebody has given the password of its login keyring, which is made by that.
    func startKeyring(isUnlocked: Bool = true) throws {
        let file = try directory.write("password", Self.password)
        let daemon = "exec gnome-keyring-daemon --foreground --components=secrets"
        let process = try Subprocess(
            ["/bin/sh", "-c", isUnlocked ? "\(daemon) --unlock < \(file)" : "\(daemon) --start"],
            environment: environment)
        keyring.withLock { $0 = process }
        try eventually("the keyring") {
            guard process.isRunning else { throw WireError(process.errors.withLock { $0.text }) }
            return try hasOwner("org.freedesktop.secrets")
        }
    }

    /// Ends it; what it keeps stays.
    func stopKeyring() throws {
        let process = keyring.withLock { $0 }
        process?.signal(SIGTERM)
        _ = try process?.waitForEnd()
        try eventually("the keyring to be gone") { try !hasOwner("org.freedesktop.secrets") }
    }

    func signalKeyring(_ number: Int32) { keyring.withLock { $0 }?.signal(number) }

    /// Has `secret-tool` do something; what it prints, byte by byte.
    func secretTool(_ words: String..., input: String = "") throws -> [UInt8] {
        let file = try directory.write("input", input)
        let out = directory.path("output")
        let quoted = words.map { "'\($0)'" }.joined(separator: " ")
        let done = try Subprocess.run(
            ["/bin/sh", "-c", "secret-tool \(quoted) < \(file) > \(out) 2>&1"], environment: environment)
        guard case .exited = done.ending else { throw WireError("secret-tool \(words): \(done)") }
        return TemporaryDirectory.contents(of: out)
    }

    /// The value that is kept by a name; empty if there is none.
    func value(of name: String) throws -> [UInt8] {
        try secretTool("lookup", "application", "bearerd", "key", name)
    }

    /// How many items go by a name.
    func count(of name: String) throws -> Int {
        let text = String(
            decoding: try secretTool("search", "--all", "application", "bearerd", "key", name), as: UTF8.self)
        return text.split(separator: "\n").count { $0.hasPrefix("[/") }
    }

    /// Starts dbus-monitor, which prints the messages on the bus.
    func listen() throws -> Subprocess {
        let monitor = try Subprocess(["/usr/bin/dbus-monitor", "--session"], environment: environment)
        try monitor.output.wait(for: "the monitor") { $0.text.contains("NameLost") ? () : nil }
        return monitor
    }

    private func hasOwner(_ name: String) throws -> Bool {
        try Subprocess.run(
            [
                "/usr/bin/dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/",
                "org.freedesktop.DBus.NameHasOwner", "string:\(name)",
            ], environment: environment
        ).output.contains("boolean true")
    }
}

extension Needs {
    /// A keyring, and a bus for it.
    static let keyring = Needs(orElse: "there is no gnome-keyring, secret-tool or dbus-daemon") {
        SessionBus.isInstalled
    }
}
