// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The level and format of a log, which can change while the process runs.
final class LogSettings: Sendable {
    private let current: Mutex<(level: LogLevel, format: LogFormat)>

    init(level: LogLevel, format: LogFormat) {
        current = Mutex((level, format))
    }

    var level: LogLevel { current.withLock { $0.level } }
    var format: LogFormat { current.withLock { $0.format } }

    func use(level: LogLevel, format: LogFormat) { current.withLock { $0 = (level, format) } }
}
