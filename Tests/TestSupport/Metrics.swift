// SPDX-License-Identifier: Apache-2.0

/// A scrape in Prometheus's text format.
package struct Metrics: Sendable {
    /// Value by series, labels included, as written.
    package let series: [String: Double]
    /// The names that have a `# TYPE` line.
    package let typed: Set<String>

    package init(parsing text: String) {
        var series: [String: Double] = [:]
        var typed: Set<String> = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if line.hasPrefix("# TYPE"), words.count > 2 { typed.insert(String(words[2])) }
            guard !line.hasPrefix("#"), let space = line.lastIndex(of: " ") else { continue }
            series[String(line[..<space])] = Double(line[line.index(after: space)...])
        }
        self.series = series
        self.typed = typed
    }

    /// The sum of the series of this name whose labels contain every one given, such as `route="/"`.
    package func sum(_ name: String, _ labels: String...) -> Double {
        series.filter { entry in
            entry.key.prefix { $0 != "{" } == name && labels.allSatisfy { entry.key.contains($0) }
        }.values.reduce(0, +)
    }
}
