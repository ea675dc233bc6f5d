// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdSystem

/// Asks a person at the terminal for what the first configuration needs.
struct StarterDialogue {
    /// True if a person can be asked: standard input and standard error are terminals.
    static var isPossible: Bool { CurrentProcess.isTerminal(0) && CurrentProcess.isTerminal(2) }

    let placement: FilePlacement

    /// Asks for what is missing, and once more for what is refused.
    ///
    /// - Throws: a failure of usage where the person ends the input.
    func complete(_ starter: inout StarterConfiguration) throws(CommandFailure) {
        try ask(.upstream, "the API that requests go to (https://…)", of: &starter)
        try ask(.issuer, "the provider's issuer (https://…)", of: &starter)
        if !starter.isForPerson, starter.answers[.clientSecretFile] == nil {
            starter.isForPerson = try decide("does a person log in, rather than the program itself?")
        }
        try ask(.clientID, "the client id that is registered there", of: &starter)
        if let file = starter.answers[.clientSecretFile] {
            starter.answers[.clientSecretFile] = placement.spelled(fromHere: file)
        } else {
            try askSecret(of: &starter)
        }
    }

    /// Asks for a yes or a no, and once more for what is neither; nothing is a no.
    private func decide(_ question: String) throws(CommandFailure) -> Bool {
        while true {
            switch try line("\(question) [y/N]").lowercased() {
            case "y", "yes": return true
            case "n", "no", "": return false
            default: Console.remark("  y or n?")
            }
        }
    }

    private func ask(
        _ answer: StarterAnswer, _ question: String, of starter: inout StarterConfiguration
    ) throws(CommandFailure) {
        while true {
            if starter.answers[answer] == nil {
                let text = try line(question)
                guard !text.isEmpty else { continue }
                starter.answers[answer] = text
            }
            guard let objection = objection(to: answer, of: starter) else { return }
            Console.remark("  \(objection)")
            starter.answers[answer] = nil
        }
    }

    /// The error that an answer causes in the configuration; nil if it causes none.
    private func objection(to answer: StarterAnswer, of starter: StarterConfiguration) -> String? {
        let report = ConfigurationReport(
            Array(placement.here(starter).file.utf8), file: "", environment: CurrentProcess.environment)
        return report.problems.first { problem in
            problem.severity == .error && StarterAnswer(path: problem.path) == answer
        }?.reason
    }

    /// A secret is typed in unseen and kept in a file of its own.
    private func askSecret(of starter: inout StarterConfiguration) throws(CommandFailure) {
        let name = "client_secret"
        if (try? FileSystem.status(of: placement.opened(name))) != nil {
            Console.remark(
                "  the client's secret is taken to be in \(placement.opened(name)), which is there")
            starter.answers[.clientSecretFile] = name
            return
        }
        let question =
            starter.isForPerson
            ? "the client's secret, not shown (none for a public client)" : "the client's secret, not shown"
        var secret = try line(question, isHidden: true)
        while secret.isEmpty {
            guard !starter.isForPerson else { return }
            Console.remark(
                "  a program proves by a secret who it is; the provider shows it where the client is registered"
            )
            secret = try line(question, isHidden: true)
        }
        try placement.write(secret + "\n", to: placement.opened(name))
        Console.remark("  kept in \(placement.opened(name))")
        starter.answers[.clientSecretFile] = name
    }

    private func line(_ question: String, isHidden: Bool = false) throws(CommandFailure) -> String {
        try? StandardStream.error.write("\(question): ")
        let answer =
            isHidden ? TerminalInput.hiddenLine(answering: "\(question): ") : TerminalInput.line()
        guard let text = answer else {
            throw CommandFailure(.usage, "the input has ended before all was told; nothing was written")
        }
        if isHidden { try? StandardStream.error.write("\n") }
        return text.trimmed
    }
}

extension String {
    fileprivate var trimmed: String {
        let kept = drop { $0.isWhitespace }
        return String(kept.prefix(kept.count - kept.reversed().prefix { $0.isWhitespace }.count))
    }
}
