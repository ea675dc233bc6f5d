// SPDX-License-Identifier: Apache-2.0

import BearerdObservability

/// The last counts of each worker, and the workers that do not answer.
struct WorkerReports {
    private struct Entry {
        var metrics = WorkerMetrics()
        /// The number of the newest question that it has answered.
        var answered = 0
        var isSilent = false
    }

    private var entries: [Int: Entry] = [:]
    private var questions = 0

    /// The last counts of all workers, merged.
    var metrics: WorkerMetrics {
        var total = WorkerMetrics()
        for entry in entries.values { total.merge(entry.metrics) }
        return total
    }

    /// The numbers of the silent workers.
    var silent: [Int] { entries.filter { $0.value.isSilent }.keys.sorted() }

    /// Returns true if a worker has left a question unanswered and is not asked again.
    func isSilent(_ worker: Int) -> Bool { entries[worker]?.isSilent ?? false }

    /// - Returns: the number of a new question to the workers.
    mutating func ask() -> Int {
        questions += 1
        return questions
    }

    /// Records a worker's answer.
    ///
    /// - Parameter metrics: its counts; nil if the question was another one.
    /// - Returns: true if the worker was silent before.
    mutating func answered(_ question: Int, by worker: Int, _ metrics: WorkerMetrics?) -> Bool {
        var entry = entries[worker] ?? Entry()
        defer { entries[worker] = entry }
        if let metrics { entry.metrics = metrics }
        entry.answered = max(entry.answered, question)
        defer { entry.isSilent = false }
        return entry.isSilent
    }

    /// Ends the time for answers to a question.
    ///
    /// - Returns: the workers of `asked` that have just become silent.
    mutating func close(_ question: Int, asked: [Int]) -> [Int] {
        let silent = asked.filter { worker in
            let entry = entries[worker] ?? Entry()
            return entry.answered < question && !entry.isSilent
        }
        for worker in silent { entries[worker, default: Entry()].isSilent = true }
        return silent
    }
}
