// SPDX-License-Identifier: Apache-2.0

import BearerdObservability

/// What each worker told last of what it counted, and which workers leave questions unanswered.
struct WorkerReports {
    private struct Entry {
        var metrics = WorkerMetrics()
        /// The newest question that it has answered.
        var answered = 0
        var isSilent = false
    }

    private var entries: [Int: Entry] = [:]
    private var questions = 0

    /// What all of them told last.
    var metrics: WorkerMetrics {
        var total = WorkerMetrics()
        for entry in entries.values { total.merge(entry.metrics) }
        return total
    }

    /// Those that do not turn, by number.
    var silent: [Int] { entries.filter { $0.value.isSilent }.keys.sorted() }

    /// Whether a worker has left a question unanswered for so long that it is asked no other one.
    func isSilent(_ worker: Int) -> Bool { entries[worker]?.isSilent ?? false }

    /// - Returns: the number of a question that is put to workers.
    mutating func ask() -> Int {
        questions += 1
        return questions
    }

    /// A worker has answered a question.
    ///
    /// - Parameter metrics: what it counted; nil if that was not the question.
    /// - Returns: whether it was silent.
    mutating func answered(_ question: Int, by worker: Int, _ metrics: WorkerMetrics?) -> Bool {
        var entry = entries[worker] ?? Entry()
        defer { entries[worker] = entry }
        if let metrics { entry.metrics = metrics }
        entry.answered = max(entry.answered, question)
        defer { entry.isSilent = false }
        return entry.isSilent
    }

    /// The time for answers to a question is over.
    ///
    /// - Returns: those of `asked` that are silent, and were not before.
    mutating func close(_ question: Int, asked: [Int]) -> [Int] {
        let silent = asked.filter { worker in
            let entry = entries[worker] ?? Entry()
            return entry.answered < question && !entry.isSilent
        }
        for worker in silent { entries[worker, default: Entry()].isSilent = true }
        return silent
    }
}
