// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdObservability
import BearerdSystem
import BearerdTokenStore

/// The result of the process's attempt to sandbox itself.
enum SandboxOutcome {
    /// No sandbox, because the configuration runs commands.
    case runsCommands
    /// No sandbox, because the kernel refused the rules.
    case refused(SystemError)
    case entered(Sandbox.Extent, Sandbox)

    /// Sandboxes the calling thread and everything that it will start; call it before there are other
    /// threads.
    ///
    /// - Throws: `FileStoreError` if the store's directory, which must exist before, cannot be made.
    init(of configuration: Configuration, file: String?) throws(FileStoreError) {
        guard !configuration.runsCommands else {
            self = .runsCommands
            return
        }
        var store: String?
        if let directory = configuration.store.directory { store = try StoreDirectory.make(directory) }
        let sandbox = configuration.sandbox(file: file, store: store)
        do throws(SystemError) {
            self = .entered(try sandbox.enter(), sandbox)
        } catch {
            self = .refused(error)
        }
    }

    /// Logs in one line what the process may still do.
    func tell(_ log: Log) {
        switch self {
        case .runsCommands:
            log.warning("no sandbox", [.reason: "on_state_change runs commands, which it would lock in too"])
        case .refused(let error):
            log.warning("no sandbox", [.reason: .string(error.description)])
        case .entered(.none, _):
            log.notice("no sandbox", [.reason: "the kernel has no Landlock"])
        case .entered(.landlock(let version), let sandbox):
            let judgesPorts = version >= Sandbox.versionForPorts
            let ports = sandbox.connectPorts.map { $0.sorted().map(String.init).joined(separator: " ") }
            log.info(
                "sandboxed",
                [
                    .version: .integer(version), .places: .integer(sandbox.placeCount),
                    .bind: judgesPorts && sandbox.deniesBinding ? "none" : "any",
                    .connect: .string(judgesPorts ? ports ?? "any" : "any"),
                ])
        }
    }
}
