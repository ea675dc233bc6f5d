// SPDX-License-Identifier: Apache-2.0

package import BearerdJSON

/// One problem of a configuration file, as `check --json` and a refused reload report it.
package struct ConfigurationFault: Equatable, Sendable {
    package let file: String
    package let line: Int
    package let column: Int
    /// The key's path; empty for the file as a whole.
    package let key: String
    /// The problem and its remedy; no secret.
    package let message: String

    package init(file: String, line: Int = 1, column: Int = 1, key: String = "", message: String) {
        self.file = file
        self.line = line
        self.column = column
        self.key = key
        self.message = message
    }

    /// Reads ``json``; nil if it is no problem of a file.
    package init?(_ json: JSONValue) {
        guard let file = json[.file]?.string, let message = json[.message]?.string else { return nil }
        self.init(
            file: file, line: json.count(.line) ?? 1, column: json.count(.column) ?? 1,
            key: json[.key]?.string ?? "", message: message)
    }

    /// `KEY: MESSAGE`.
    package var sentence: String { key.isEmpty ? message : "\(key): \(message)" }

    /// `FILE:LINE:COLUMN`.
    package var place: String { "\(file):\(line):\(column)" }

    /// `{"file":…,"line":…,"column":…,"key":…,"message":…}`.
    package var json: JSONValue {
        JSONValue(admin: [
            .file: .string(file), .line: JSONValue(count: line), .column: JSONValue(count: column),
            .key: .string(key), .message: .string(message),
        ])
    }
}
