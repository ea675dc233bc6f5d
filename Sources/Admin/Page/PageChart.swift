// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdObservability

/// The last ten minutes or, when there is more to show, the last hour as pictures: a column, or a point, for each step.
struct PageChart {
    private static let height = 100.0
    private static let width = 720

    /// The time that is shown: the shortest that has all of the data, an hour at most.
    private enum Window: Int {
        case minutes = 600
        case hour = 3600

        /// Seconds; samples come each ten.
        var step: Int { self == .minutes ? 10 : 30 }
        var columns: Int { rawValue / step }
        /// The texts below the chart: at its left end, in the middle and at its right end.
        var axis: (HTMLText, HTMLText, HTMLText) {
            switch self {
            case .minutes: ("10 minutes ago", "5 minutes", "now")
            case .hour: ("an hour ago", "half an hour", "now")
            }
        }
    }

    /// One step, put together from the samples that ended in it.
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

    private let window: Window
    private let columns: [Column]
    /// True if there was a request since the start, shown here or not.
    private let hasRequests: Bool

    /// - Parameters:
    ///   - samples: the samples of the last hour.
    ///   - uptime: the current uptime of the process.
    ///   - hasRequests: whether there was a request since the start.
    init(_ samples: [TrafficHistory.Sample], uptime: Duration, hasRequests: Bool = false) {
        self.hasRequests = hasRequests
        window = uptime > .seconds(Window.minutes.rawValue) ? .hour : .minutes
        var columns = [Column](repeating: Column(), count: window.columns)
        let width = Double(window.step)
        let last = Int(uptime / .seconds(1) / width)
        for sample in samples {
            // A sample that ends on the border belongs to the column before it.
            let place = Int((sample.end / .seconds(1) - 0.5) / width)
            let index = columns.count - 1 - (last - place)
            guard columns.indices.contains(index) else { continue }
            columns[index].length += sample.length
            columns[index].answers.merge(sample.answers)
            columns[index].median = [columns[index].median, sample.median].compactMap(\.self).max()
            columns[index].slowest = [columns[index].slowest, sample.slowest].compactMap(\.self).max()
        }
        self.columns = columns
    }

    /// The words for what the charts show.
    var title: HTMLText { window == .minutes ? "The last ten minutes" : "The last hour" }

    /// The width of a column, with the gap behind it.
    private var pitch: Int { Self.width / columns.count }

    // MARK: The pictures

    /// A chart of requests per second; the colours show the party to blame.
    func rates(_ title: HTMLText, _ key: HTMLText, of blames: [AnswerBlame]) -> HTMLText {
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
                path += "M\(index * pitch) \(short(floors[index]))h\(pitch - 1)v\(short(size))h-\(pitch - 1)z"
            }
            if !path.isEmpty { shapes += "<path class=\"\(blame.label)\" d=\"\(path)\"/>" }
        }
        let legend = blames.map {
            "<span class=\"blame \($0.label)\">\($0.words)</span>" as HTMLText
        }.joined()
        let values = columns.map { column in
            column.length > .zero
                ? blames.map { oneDecimal(column.rate([$0])) }.joined(separator: " ") : ""
        }
        return figure(
            title, key, words, shapes, top: "\(oneDecimal(top)) a second", legend,
            Values(names: blames.map(\.words), unit: "/s", columns: values))
    }

    /// A chart of durations: the median and the 99th percentile.
    func durations(_ title: HTMLText, _ key: HTMLText) -> HTMLText {
        let peak = columns.compactMap(\.slowest).max() ?? .zero
        let top = Duration.milliseconds(Self.roundTop(peak / .milliseconds(1)))
        let words =
            columns.last { $0.slowest != nil }.map { column in
                "lately \(column.median?.shortWords ?? "") and \(column.slowest?.shortWords ?? "")"
            } ?? (hasRequests ? "none measured in this time" : "no request yet")
        let shapes: HTMLText = """
            <path class="line p99" d="\(line(top) { $0.slowest })"/><path class="line p50" d="\(line(top) { $0.median })"/>
            """
        let values = columns.map { column in
            guard let median = column.median, let slowest = column.slowest else { return "" }
            return [median, slowest].map { $0.shortWords.replacing(" ", with: "\u{202F}") }
                .joined(separator: " ")
        }
        return figure(
            title, key, words, shapes, top: top.shortWords,
            """
            <span class="blame line50">half (p50)</span><span class="blame line99">99 of 100 (p99)</span>
            """,
            Values(names: ["half", "99 of 100"], unit: "", columns: values))
    }

    /// The values that the script shows of each column: a number for each name, or none.
    private struct Values {
        let names: [HTMLText]
        let unit: HTMLText
        let columns: [String]
    }

    private func figure(
        _ title: HTMLText, _ key: HTMLText, _ words: String, _ shapes: HTMLText, top: String,
        _ legend: HTMLText, _ values: Values
    ) -> HTMLText {
        let axis = window.axis
        let names = values.names.map(\.markup).joined(separator: "|")
        return """
            <figcaption><h3>\(title)</h3><span class="dim">\(words)</span></figcaption>
            <div class="axis"><span>\(top)</span><output id="\(key)-at"></output></div>
            <svg id="\(key)-svg" tabindex="0" viewBox="0 0 720 100" preserveAspectRatio="none" role="img" \
            aria-label="\(title): \(words)" aria-describedby="\(key)-at" data-step="\(String(window.step))" \
            data-unit="\(values.unit)" data-names="\(HTMLText(stringLiteral: names))" \
            data-values="\(values.columns.joined(separator: "|"))">\(shapes)<path class="mark" d=""/></svg>
            <div class="axis"><span>\(axis.0)</span><span>\(axis.1)</span><span>\(axis.2)</span></div>
            <div>\(legend)</div>
            """
    }

    /// Goes on where a step has no request, with a gap.
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
            path +=
                isDrawing
                ? "L\(index * pitch + pitch / 2) \(short(y))" : "M\(index * pitch + 1) \(short(y))h2"
            isDrawing = true
        }
        return path
    }

    /// The smallest of the numbers 1, 2, 5, 10, 20 … (and tenths) that is not below `value`.
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
