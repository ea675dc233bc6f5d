// SPDX-License-Identifier: Apache-2.0

/// Writes the Prometheus text format, version 0.0.4.
struct PrometheusText {
    /// The type of a metric, written on its `TYPE` line.
    enum Kind: String {
        case counter, gauge, histogram
    }

    private(set) var bytes: [UInt8] = []

    /// Begins a metric, whose samples must follow without those of another.
    mutating func begin(_ name: String, _ kind: Kind, help: String) {
        bytes.append(contentsOf: "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n".utf8)
    }

    mutating func sample(_ name: String, _ labels: KeyValuePairs<String, String>, _ value: Int) {
        append(name, labels, value: "\(value)")
    }

    mutating func sample(_ name: String, _ labels: KeyValuePairs<String, String>, _ value: Double) {
        append(name, labels, value: "\(value)")
    }

    private mutating func append(_ name: String, _ labels: KeyValuePairs<String, String>, value: String) {
        bytes.append(contentsOf: name.utf8)
        if !labels.isEmpty {
            var separator = UInt8(ascii: "{")
            for (label, text) in labels {
                bytes.append(separator)
                bytes.append(contentsOf: "\(label)=\"".utf8)
                append(escaping: text)
                bytes.append(UInt8(ascii: "\""))
                separator = UInt8(ascii: ",")
            }
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(contentsOf: " \(value)\n".utf8)
    }

    /// Appends a label's value with backslashes, quotes and line feeds escaped.
    private mutating func append(escaping text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): bytes.append(contentsOf: #"\\"#.utf8)
            case UInt8(ascii: "\""): bytes.append(contentsOf: #"\""#.utf8)
            case 0x0A: bytes.append(contentsOf: #"\n"#.utf8)
            default: bytes.append(byte)
            }
        }
    }
}
