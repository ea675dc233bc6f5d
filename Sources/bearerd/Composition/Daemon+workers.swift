// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import BearerdProxy

/// Questions to all workers, none of which may block the daemon.
extension Daemon {
    /// A worker that does not answer within this time counts as silent.
    private static let answerLimit = Duration.seconds(1)

    /// A worker that takes longer to apply a configuration does so later, when it goes on.
    private static let workerReplyLimit = Duration.seconds(2)

    /// The names of the workers whose loops do not respond.
    func silentWorkers() async -> [String] {
        await ask { worker in
            await worker.answer()
            return nil
        }
        return reports.silent.map(Self.name)
    }

    /// The counts of all workers; for one that does not answer within a second, its last ones.
    ///
    /// - Parameter endsStep: true if a step of the history ends with them.
    func workerMetrics(endsStep: Bool = false) async -> WorkerMetrics {
        await ask { await $0.metricsSnapshot(endsStep: endsStep) }
        return reports.metrics
    }

    /// Asks all workers except silent ones, and waits a second at most.
    ///
    /// A worker that stands still thus delays the first caller only.
    private func ask(_ question: @escaping @Sendable (Worker) async -> WorkerMetrics?) async {
        let asked = workers.indices.filter { !reports.isSilent($0) }
        let number = reports.ask()
        let count = TimedCount()
        for index in asked {
            Task(executorPreference: loop) { [worker = workers[index]] in
                let metrics = await question(worker)
                await self.answered(number, by: index, metrics)
                count.finishedOne()
            }
        }
        guard await !count.wait(for: asked.count, atMost: Self.answerLimit, on: loop) else { return }
        for index in reports.close(number, asked: asked) {
            log.warning("a worker does not turn", [.worker: .string(Self.name(of: index))])
        }
    }

    private func answered(_ question: Int, by index: Int, _ metrics: WorkerMetrics?) {
        guard reports.answered(question, by: index, metrics) else { return }
        log.notice("a worker turns again", [.worker: .string(Self.name(of: index))])
    }

    /// The name of a worker's thread.
    static func name(of worker: Int) -> String { "worker-\(worker)" }

    /// Performs an action on all workers at once.
    ///
    /// - Returns: whether all finished within the limit, and the tasks that still run.
    func eachWorker(
        within limit: Duration, _ body: @escaping @Sendable (Int, Worker) async -> Void
    ) async -> (isDone: Bool, tasks: [Task<Void, Never>]) {
        let count = TimedCount()
        let tasks = workers.enumerated().map { index, worker in
            Task(executorPreference: loop) {
                await body(index, worker)
                count.finishedOne()
            }
        }
        return (await count.wait(for: workers.count, atMost: limit, on: loop), tasks)
    }

    /// Performs an action on all workers; one that stands still does it later, and is not waited for.
    ///
    /// - Parameter end: called when all have done it.
    func forEachWorker(
        _ body: @escaping @Sendable (Int, Worker) async -> Void,
        finally end: @escaping @Sendable () async -> Void = {}
    ) async {
        let (isDone, rest) = await eachWorker(within: Self.workerReplyLimit, body)
        guard !isDone else { return await end() }
        log.warning("a worker does not turn; it takes the configuration over when it does")
        Task(executorPreference: loop) {
            for task in rest { await task.value }
            await end()
        }
    }
}
