// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdObservability

/// The last hour as pictures: a column, or a point, for each half minute.
struct PageChart {
    private static let columns = 120
    private static let height = 100.0

    /// One half minute, put together from the samples that ended in it.
    struct Column {
        var length = Duration.zero
        var answers = Tally<AnswerBlame>()
        var median: Duration?
        var slowest: Duration?

        func rate(_ blames: [AnswerBlame]) -> Double {
            let count = blames.reduce(0) { $0 + answers[$1] }
            return length > .zero ? Double(count) / (length / .seconds(1)) : 0
        }
    }

    private let columns: [Column]

    /// - Parameters:
    ///   - samples: of the last hour.
    ///   - uptime: at this moment.
    init(_ samples: [TrafficHistory.Sample], uptime: Duration) {
        var columns = [Column](repeating: Column(), count: Self.columns)
        let width = 30.0
        let last = Int(uptime / .seconds(1) / width)
        for sample in samples {
            // What ends on the border belongs to what was before it.
            let place = Int((sample.end / .seconds(1) - 0.5) / width)
            let index = Self.columns - 1 - (last - place)
            guard columns.indices.contains(index) else { continue }
            columns[index].length += sample.length
            columns[index].answers.merge(sample.answers)
            columns[index].median = [columns[index].median, sample.median].compactMap(\.self).max()
            columns[index].slowest = [columns[index].slowest, sample.slowest].compactMap(\.self).max()
        }
        self.columns = columns
    }

    // MARK: The pictures

    /// Requests a second, in columns whose colours say who was to blame.
    func rates(_ title: HTMLText, of blames: [AnswerBlame]) -> HTMLText {
        let peak = columns.map { $0.rate(blames) }.max() ?? 0
        let top = Self.roundTop(peak)
        let present = columns.last { $0.length > .zero }?.rate(blames) ?? 0
        let words = "now \(oneDecimal(present)) a second, at most \(oneDecimal(peak))"
        var shapes = HTMLText.empty
        var floors = [Double](repeating: Self.height, count: columns.count)
        for blame in blames {
            var path = ""
            for (index, column) in columns.enumerated() {
                let rate = column.rate([blame])
                guard rate > 0 else { continue }
                // The rarest failure is seen too.
                let size = max(1, (rate / top * Self.height * 10).rounded() / 10)
                floors[index] = max(0, floors[index] - size)
                path += "M\(index * 6) \(short(floors[index]))h5v\(short(size))h-5z"
            }
            if !path.isEmpty { shapes += "<path class=\"\(blame.label)\" d=\"\(path)\"/>" }
        }
        let legend = blames.map { "<span class=\"blame \($0.label)\">\($0.label)</span>" as HTMLText }
            .joined()
        return figure(title, words, shapes, top: "\(oneDecimal(top)) a second", legend)
    }

    /// How long requests took: half of them, and 99 of a hundred.
    func durations(_ title: HTMLText) -> HTMLText {
        let peak = columns.compactMap(\.slowest).max() ?? .zero
        let top = Duration.milliseconds(Self.roundTop(peak / .milliseconds(1)))
        let words =
            columns.last { $0.slowest != nil }.map { column in
                "lately \(column.median?.shortWords ?? "") and \(column.slowest?.shortWords ?? "")"
            } ?? "no request yet"
        let shapes: HTMLText = """
            <path class="line p99" d="\(line(top) { $0.slowest })"/><path class="line p50" d="\(line(top) { $0.median })"/>
            """
        return figure(
            title, words, shapes, top: top.shortWords,
            "<span class=\"blame line50\">half (p50)</span><span class=\"blame line99\">99 of 100 (p99)</span>"
        )
    }

    private func figure(
        _ title: HTMLText, _ words: String, _ shapes: HTMLText, top: String, _ legend: HTMLText
    ) -> HTMLText {
        """
        <figcaption><h3>\(title)</h3><span class="dim">\(words)</span></figcaption>
        <div class="axis"><span>\(top)</span></div>
        <svg viewBox="0 0 720 100" preserveAspectRatio="none" role="img" aria-label="\(title): \(words)">\(shapes)</svg>
        <div class="axis"><span>an hour ago</span><span>half an hour</span><span>now</span></div>
        <div>\(legend)</div>
        """
    }

    /// Goes on where a half minute has no request, with a gap.
    private func line(_ top: Duration, _ value: (Column) -> Duration?) -> String {
        var path = ""
        var isDrawing = false
        for (index, column) in columns.enumerated() {
            guard let value = value(column) else {
                isDrawing = false
                continue
            }
            let y = Self.height * (1 - min(1, value / max(top, .microseconds(1))))
            // One point alone is a line too.
            path += isDrawing ? "L\(index * 6 + 3) \(short(y))" : "M\(index * 6 + 1) \(short(y))h2"
            isDrawing = true
        }
        return path
    }

    /// A round number that nothing is above: 1, 2 or 5 and noughts.
    private static func roundTop(_ value: Double) -> Double {
        guard value > 0, value.isFinite else { return 1 }
        var unit = 0.1
        while unit * 10 < value { unit *= 10 }
        return [1, 2, 5, 10].lazy.map { $0 * unit }.first { $0 >= value } ?? value
    }

    private func short(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
