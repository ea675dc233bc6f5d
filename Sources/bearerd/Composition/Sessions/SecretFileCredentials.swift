// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdSystem
import Glibc
import OAuth

/// A client's credentials, read at each use.
struct SecretFileCredentials: CredentialSource, TokenProgramRunner {
    let sources: [Credential: SecretSource]
    /// The configuration key of each credential.
    let keys: [Credential: String]
    let reader: SecretReader
    /// `timeouts.token`; zero for ever.
    let limit: Duration
    /// Runs programs; nil where the configuration has none.
    var commands: CommandHelper?

    func configuredKey(of credential: Credential) -> String? { keys[credential] }

    func read(_ credential: Credential) async throws(CredentialError) -> Secret? {
        guard let source = sources[credential] else { return nil }
        return try await reader.read(source, within: limit)
    }

    func run(_ command: TokenProgram) async throws(CredentialError) -> CommandOutput {
        guard let commands else {
            throw CredentialError(reason: "no program can be run before a restart")
        }
        let result: CommandHelper.Result
        do throws(CommandHelper.Failure) {
            result = try await commands.run(command.words, limit: command.limit)
        } catch {
            throw CredentialError(reason: "\(command.words[0]) \(error.complaint)")
        }
        return CommandOutput(
            failure: result.outcome.complaint(after: command.limit),
            isLate: [.timedOut, .left].contains(result.outcome),
            output: result.output, error: result.error)
    }
}

extension CommandHelper.Failure {
    /// The failure in words that follow the program's name.
    fileprivate var complaint: String {
        switch self {
        case .helperGone:
            "cannot be started: the process that starts programs (bearerd-command) was killed; \(Sandbox.advice)"
        case .helperBusy:
            "cannot be started: the process that starts programs (bearerd-command) takes no more requests for now; if it stays so, "
                + Sandbox.advice
        case .silent:
            "was given up: no answer came from the process that starts programs, or from the one that it makes for this one "
                + "(both are called bearerd-command); if it stays so, \(Sandbox.advice)"
        case .stillRunning: "is not started again: the one of before could not be killed, and still runs"
        case .watcherGone: "was given up: the process that watched over it was killed, or could not be made"
        case .cancelled: "was ended, because nobody waits for it any more"
        case .system(let error): "cannot be started: \(SystemError.text(of: error.code))"
        }
    }
}

extension CommandHelper.Outcome {
    /// The failure in words that follow the program's name; nil for success.
    fileprivate func complaint(after limit: Duration) -> String? {
        switch self {
        case .exited(0): nil
        case .exited(let code): "exited with \(code)"
        case .signalled(let number): "was ended by signal \(number)"
        case .timedOut: "was killed after \(Int((limit / .milliseconds(1)).rounded())) ms"
        case .left: "took too long or printed too much, and could not be killed: it still runs"
        case .tooMuchOutput: "was killed: it printed more than \(CommandHelper.longestOutput) bytes"
        case .notStarted(ENOEXEC):
            "cannot be started: it is no program of this machine, and does not begin with #! and an interpreter"
        case .notStarted(let code): "cannot be started: \(SystemError.text(of: code))"
        }
    }
}
