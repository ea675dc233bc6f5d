// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

@Suite(
    .blocking, .needs(.keyring))
struct `A Secret Service that is of no use` {
    /// Why it is of none.
    enum Trouble: String, CaseIterable {
        case noBus
        case noService
        case muteBus
        case muteService
        case locked
        case noCollection
        case noLibrary

        static let late = "does not answer"

        var words: String {
            switch self {
            case .noBus: "there is no session bus"
            case .noService: "there is no Secret Service"
            case .muteBus, .muteService: Self.late
            case .locked: "is locked"
            case .noCollection: "no default keyring"
            case .noLibrary: "install libsecret-1-0"
            }
        }
    }

    private let bus: SessionBus
    private let provider: HostileProvider
    private let directory: TemporaryDirectory
    private let file: String
    private let name = "main-" + randomText()

    init() throws {
        bus = try SessionBus()
        provider = try HostileProvider()
        directory = try TemporaryDirectory()
        file = try directory.write(
            "config.yaml",
            Sidecar.configuration(
                provider: provider, upstream: "http://127.0.0.1:1", clientSecret: "not-a-real-secret",
                directory: directory,
                .init(store: "directory: \(directory.path("store"))\nencryption_key_keyring: \(name)")))
    }

    /// The command lines of processes that have the key's name in it.
    private var processes: [String] {
        TemporaryDirectory.entries(of: "/proc").filter { $0.allSatisfy(\.isNumber) }.map { process in
            String(decoding: TemporaryDirectory.contents(of: "/proc/\(process)/cmdline"), as: UTF8.self)
        }.filter { $0.contains(name) }
    }

    @Test(arguments: Trouble.allCases)
    func `is an error within two seconds, which names what needs none, and nobody is asked`(
        trouble: Trouble
    ) throws {
        var environment = bus.environment
        var mute: RawServer?
        switch trouble {
        case .noBus: environment = ["HOME": bus.directory.path("home")]
        case .noService: break
        case .muteBus:
            let server = try RawServer(unixPath: bus.directory.path("mute")) { _ = try $0.readToEnd() }
            mute = server
            environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(bus.directory.path("mute"))"
        case .muteService:
            try bus.startKeyring()
            bus.signalKeyring(SIGSTOP)
        case .locked:
            try bus.startKeyring()
            try bus.stopKeyring()
            try bus.startKeyring(isUnlocked: false)
        case .noCollection: try bus.startKeyring(isUnlocked: false)
        case .noLibrary:
            try bus.directory.write("libsecret-1.so.0", "")
            environment["LD_LIBRARY_PATH"] = bus.directory.path
        }
        defer { bus.signalKeyring(SIGCONT) }
        let monitor = try bus.listen()
        /// What a command has said in time: a busy machine may be late, which reads as if the service did not answer.
        func answer(
            _ words: String..., begin: () -> Void = {}
        ) throws -> (exit: Int32, output: String, errors: String) {
            var done = (exit: Int32(0), output: "", errors: "")
            try eventually("an answer in time") {
                begin()
                done = try BearerdProcess.command(words + ["-c", file], environment: environment)
                return trouble.words == Trouble.late || !(done.output + done.errors).contains(Trouble.late)
            }
            return done
        }
        let isQuick = try isOnce(within: .seconds(2)) { begin in
            let done = try answer("run", begin: begin)
            #expect(done.exit == 69, "\(done)")
            let said = done.errors.split(separator: "\n").filter { !$0.contains("WARNING") }
            #expect(said.count == 1, "\(done.errors)")
            for words in [
                trouble.words, "'\(name)'", "store.encryption_key_keyring", "store.encryption_key_file",
                "store.encryption_key_credential", "systemd-creds",
            ] {
                #expect(done.errors.contains(words), "\(words) in \(done.errors)")
            }
        }
        #expect(isQuick)
        #expect(processes.isEmpty, "who asked is left: \(processes)")
        let doctor = try answer("doctor", "--check", "keyring")
        #expect(doctor.exit == 69 && doctor.output.contains(trouble.words), "\(doctor)")
        #expect(TemporaryDirectory.entries(of: directory.path("store")).isEmpty)
        #expect(provider.requests.isEmpty)
        let said = monitor.output.withLock { $0.text }
        #expect(!said.contains("member=Prompt") && !said.contains("member=Unlock"), "\(said)")
        withExtendedLifetime(mute) {}
    }

    @Test(.needs(.askingService))
    func `is not let ask anybody`() throws {
        let service = try AskingService(on: bus)
        let done = try BearerdProcess.command("token", "-c", file, environment: bus.environment)
        #expect(done.exit == 69 && done.errors.contains("would ask a person"), "\(done)")
        #expect(try service.awaitPrompts(1) == ["dismissed"])
    }

    @Test func `is asked again by who comes later, when it has answered nobody for a while`() throws {
        try bus.startKeyring()
        bus.signalKeyring(SIGSTOP)
        for _ in 0..<2 {
            #expect(try BearerdProcess.command("token", "-c", file, environment: bus.environment).exit == 69)
        }
        bus.signalKeyring(SIGCONT)
        try eventually("the key") {
            try BearerdProcess.command("token", "-c", file, environment: bus.environment).exit == 0
        }
        #expect(try bus.count(of: name) == 1)
    }
}
