// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Programs that could not be killed, by command: the sockets of each, which close at the other end once it has ended.
final class LeftPrograms: Sendable {
    private let answers = Mutex<[[String]: CommandAnswer]>([:])

    /// Returns true if a program of the command still runs.
    func runs(_ command: [String]) -> Bool {
        answers.withLock { answers in
            if let last = answers[command], last.isOpen { return true }
            answers[command] = nil
            return false
        }
    }

    func insert(_ answer: CommandAnswer, of command: [String]) {
        answers.withLock { $0[command] = answer }
    }
}
