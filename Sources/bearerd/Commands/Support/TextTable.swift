// SPDX-License-Identifier: Apache-2.0

import BearerdObservability

/// A table with aligned columns; each row is one line, because line ends in cells are escaped.
struct TextTable {
    private var rows: [[String]]

    /// Begins with the names of the columns.
    init(_ header: [String]) {
        rows = [header]
    }

    /// Adds a row with as many columns as the first one.
    mutating func append(_ row: [String]) {
        rows.append(row.map(\.printable))
    }

    /// The rows, each ending with a line end.
    var text: String { lines.joined() }

    /// The rows, with the cells of one column coloured except its name.
    func coloured(column: Int, _ colour: (String) -> TerminalText.Colour?) -> TerminalText {
        var text = TerminalText()
        for (number, (row, line)) in zip(rows, lines).enumerated() {
            let start = widths.prefix(column).reduce(0) { $0 + $1 + 2 }
            let cell = row[column]
            text.append(String(line.prefix(start)))
            text.append(cell, number == 0 ? nil : colour(cell))
            text.append(String(line.dropFirst(start + cell.count)))
        }
        return text
    }

    private var widths: [Int] {
        (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    }

    private var lines: [String] {
        let widths = widths
        return rows.map { row in
            let cells = zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count + 2)
            }
            let line = cells.joined()
            return line.prefix(upTo: line.lastIndex { $0 != " " }.map(line.index(after:)) ?? line.startIndex)
                + "\n"
        }
    }
}
