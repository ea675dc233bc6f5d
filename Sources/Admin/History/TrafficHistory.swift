// SPDX-License-Identifier: Apache-2.0

internal import BearerdAdminAPI
package import BearerdObservability
internal import OAuth
internal import Synchronization

/// The traffic of the last hour in steps of ten seconds, and each route's figures for the last minute.
///
/// Its memory is bounded by the hour and by the number of routes.
package final class TrafficHistory: Sendable {
    /// The interval at which ``take(_:)`` must be called.
    package static let step = Duration.seconds(10)
    private static let hour = 360
    /// The number of steps in the current figures of a route.
    private static let minute = 6

    /// The traffic of one step.
    struct Sample: Sendable {
        /// The end of the step, since the start of the process.
        var end: Duration
        var length: Duration
        var answers = Tally<AnswerBlame>()
        var median: Duration?
        var slowest: Duration?
        var openStreams = 0

        /// Requests per second with this party to blame.
        func rate(_ blame: AnswerBlame) -> Double {
            length > .zero ? Double(answers[blame]) / (length / .seconds(1)) : 0
        }
    }

    fileprivate struct Mark {
        let moment: Instant
        let metrics: WorkerMetrics
        let answers: Tally<AnswerBlame>
        let durations: DurationHistogram
    }

    private struct Memory {
        var samples: [Sample] = []
        /// The counts at the ends of the last steps, the oldest first.
        var marks: [Mark] = []
    }

    private let memory = Mutex(Memory())
    private let begin: Instant
    private let now: @Sendable () -> Instant

    init(now: @escaping @Sendable () -> Instant) {
        self.now = now
        begin = now()
    }

    /// Ends a step with the current counts, whose longest durations are the step's.
    package func take(_ metrics: WorkerMetrics) {
        let mark = Mark(metrics, at: now())
        memory.withLock { memory in
            if let last = memory.marks.last {
                memory.samples.append(Self.sample(from: last, to: mark, since: begin))
                memory.samples.removeFirst(max(0, memory.samples.count - Self.hour))
            }
            memory.marks.append(mark)
            memory.marks.removeFirst(max(0, memory.marks.count - Self.minute - 1))
        }
    }

    /// The samples of the last hour, the oldest first.
    var samples: [Sample] { memory.withLock { $0.samples } }

    /// The samples of the last hour, and one for the current step.
    func samples(with metrics: WorkerMetrics) -> [Sample] {
        let mark = Mark(metrics, at: now())
        let (samples, last) = memory.withLock { ($0.samples, $0.marks.last) }
        guard let last, mark.moment - last.moment >= .seconds(1) else { return samples }
        return samples + [Self.sample(from: last, to: mark, since: begin)]
    }

    /// The figures of each route, keyed by its name.
    ///
    /// - Parameter metrics: the current counts.
    func figures(_ metrics: WorkerMetrics) -> [String: RouteFigures] {
        let now = now()
        let marks = memory.withLock { $0.marks }
        let mark = marks.first
        return Dictionary(
            uniqueKeysWithValues: metrics.routes.map { name, route in
                (
                    name,
                    RouteFigures(
                        route, since: mark?.metrics.routes[name],
                        over: marks.dropFirst().compactMap { $0.metrics.routes[name]?.durations },
                        within: mark.map { now - $0.moment } ?? (now - begin))
                )
            })
    }

    private static func sample(from last: Mark, to mark: Mark, since begin: Instant) -> Sample {
        var sample = Sample(end: mark.moment - begin, length: mark.moment - last.moment)
        for blame in AnswerBlame.allCases {
            sample.answers[blame] = max(0, mark.answers[blame] - last.answers[blame])
        }
        let durations = mark.durations.since(last.durations)
        sample.median = durations.quantile(0.5)
        sample.slowest = durations.quantile(0.99)
        sample.openStreams = mark.metrics.routes.values.reduce(0) { $0 + $1.openStreams }
        return sample
    }
}

extension TrafficHistory.Mark {
    fileprivate init(_ metrics: WorkerMetrics, at moment: Instant) {
        var answers = Tally<AnswerBlame>()
        var durations = DurationHistogram()
        for route in metrics.routes.values {
            answers.merge(route.answers)
            durations.merge(route.durations)
        }
        self.init(moment: moment, metrics: metrics, answers: answers, durations: durations)
    }
}

extension RouteFigures {
    /// - Parameters:
    ///   - earlier: the counts before the window.
    ///   - steps: the durations at the ends of the steps in it, each with the step's longest ones.
    ///   - length: the length of the window.
    fileprivate init(
        _ route: RouteMetrics, since earlier: RouteMetrics?,
        over steps: [DurationHistogram], within length: Duration
    ) {
        self.init()
        answers = route.answers
        requests = route.durations.count
        var recent = earlier.map { route.durations.since($0.durations) } ?? route.durations
        for step in steps { recent.extendLongest(step) }
        rate = length > .zero ? Double(recent.count) / (length / .seconds(1)) : 0
        median = recent.quantile(0.5)
        slowest = recent.quantile(0.99)
        replays = ReplayResult.allCases.reduce(0) { $0 + route.replays[$1] }
        openStreams = route.openStreams
    }
}
