// SPDX-License-Identifier: Apache-2.0

/// The importance of a log line, least first.
package enum LogLevel: Int, CaseIterable, Comparable, Sendable {
    /// Bytes counted, readiness, single reads and writes.
    case trace
    /// One line for each request or decision.
    case debug
    /// The life of the process: started, reloaded, drained.
    case info
    /// A change in the state of an identity.
    case notice
    /// A failure that is retried automatically.
    case warning
    /// A lost request, or a failure on which somebody must act.
    case error

    /// The level as spelled in the configuration and in log lines.
    package var name: String {
        switch self {
        case .trace: "trace"
        case .debug: "debug"
        case .info: "info"
        case .notice: "notice"
        case .warning: "warning"
        case .error: "error"
        }
    }

    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}
