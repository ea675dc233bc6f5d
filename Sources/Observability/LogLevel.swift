// SPDX-License-Identifier: Apache-2.0

/// How much a log line matters, least first.
package enum LogLevel: Int, CaseIterable, Comparable, Sendable {
    /// Bytes counted, readiness, single reads and writes.
    case trace
    /// One line a request or a decision.
    case debug
    /// The life of the process: started, reloaded, drained.
    case info
    /// The state of an identity changed.
    case notice
    /// Something failed and is tried again by itself.
    case warning
    /// A request was lost, or somebody has to act.
    case error

    /// The level as it is spelled in the configuration and in each line.
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
