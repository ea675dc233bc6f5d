// SPDX-License-Identifier: Apache-2.0

/// The format of a log line.
package enum LogFormat: Sendable {
    /// For people: time, level, message, then `key=value` pairs.
    case text
    /// The same on a terminal that shows colours (ECMA-48 8.3.117).
    case colouredText
    /// For machines: one JSON object a line.
    case json
}
