// SPDX-License-Identifier: Apache-2.0

/// A response of `/metrics`, parsed.
package struct Metrics: Sendable {
    /// The values keyed by series, with labels as written.
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

    /// The sum of all series of a name that have all given labels, such as `route="/"`.
    package func sum(_ name: String, _ labels: String...) -> Double {
        series.filter { entry in
            entry.key.prefix { $0 != "{" } == name && labels.allSatisfy { entry.key.contains($0) }
        }.values.reduce(0, +)
    }
}
