// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import BearerdProxy

/// What all workers are asked for, however long one of them takes.
extension Daemon {
    /// A worker that does not answer within this time does not turn.
    private static let answerLimit = Duration.seconds(1)

    /// A worker that takes longer to take a configuration over is left to do so when it goes on.
    private static let patience = Duration.seconds(2)

    /// The names of the workers whose loops do not turn.
    func silentWorkers() async -> [String] {
        await ask { worker in
            await worker.turn()
            return nil
        }
        return reports.silent.map(Self.name)
    }

    /// What all workers counted; of one that does not answer within a second, what it told last.
    func workerMetrics() async -> WorkerMetrics {
        await ask { await $0.metricsSnapshot() }
        return reports.metrics
    }

    /// Puts a question to all workers but those that have left one unanswered, and waits a second at most.
    ///
    /// So one that stands still holds up who asks first, and nobody after that.
    private func ask(_ question: @escaping @Sendable (Worker) async -> WorkerMetrics?) async {
        let asked = workers.indices.filter { !reports.isSilent($0) }
        let number = reports.ask()
        let race = DrainRace()
        for index in asked {
            Task(executorPreference: loop) { [worker = workers[index]] in
                let metrics = await question(worker)
                await self.answered(number, by: index, metrics)
                race.finishedOne()
            }
        }
        let outcome = await race.wait(for: asked.count, grace: Self.answerLimit, on: loop)
        guard outcome == .graceIsOver else { return }
        for index in reports.close(number, asked: asked) {
            log.warning("a worker does not turn", [.worker: .string(Self.name(of: index))])
        }
    }

    private func answered(_ question: Int, by index: Int, _ metrics: WorkerMetrics?) {
        guard reports.answered(question, by: index, metrics) else { return }
        log.notice("a worker turns again", [.worker: .string(Self.name(of: index))])
    }

    /// What the thread of a worker is called.
    static func name(of worker: Int) -> String { "worker-\(worker)" }

    /// Has every worker do something, all of them at once.
    ///
    /// - Returns: whether they have within the limit, and what goes on if not.
    func eachWorker(
        within limit: Duration, _ body: @escaping @Sendable (Int, Worker) async -> Void
    ) async -> (isDone: Bool, tasks: [Task<Void, Never>]) {
        let race = DrainRace()
        let tasks = workers.enumerated().map { index, worker in
            Task(executorPreference: loop) {
                await body(index, worker)
                race.finishedOne()
            }
        }
        return (await race.wait(for: workers.count, grace: limit, on: loop) == .drained, tasks)
    }

    /// Has every worker do something; one that stands still does so when it goes on, and is waited for no longer.
    ///
    /// - Parameter end: runs when all of them have.
    func forEachWorker(
        _ body: @escaping @Sendable (Int, Worker) async -> Void,
        finally end: @escaping @Sendable () async -> Void = {}
    ) async {
        let (isDone, rest) = await eachWorker(within: Self.patience, body)
        guard !isDone else { return await end() }
        log.warning("a worker does not turn; it takes the configuration over when it does")
        Task(executorPreference: loop) {
            for task in rest { await task.value }
            await end()
        }
    }
}
