// SPDX-License-Identifier: Apache-2.0

/// The format of a log line.
package enum LogFormat: Sendable {
    /// For people: time, level, message, then `key=value` pairs.
    case text
    /// The text format with colours, for a terminal (ECMA-48 §8.3.117).
    case colouredText
    /// For programs: one JSON object per line.
    case json
}
