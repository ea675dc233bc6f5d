// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// The log of the process: fixed messages with named fields, one line each.
///
/// A message is a `StaticString`, so that no part of a request, a token or a response can be interpolated
/// into it. Variable parts are fields, and a ``LogValue`` cannot hold a secret.
package struct Log: Sendable {
    private let settings: LogSettings
    private let sink: any LineSink
    private let unixMilliseconds: @Sendable () -> Int64
    private var context: [(LogKey, LogValue)] = []

    /// Makes a log.
    ///
    /// - Parameters:
    ///   - level: lines below it are not written.
    ///   - format: the format of every line.
    ///   - sink: the destination of the lines.
    ///   - unixMilliseconds: the wall clock, in milliseconds since 1970.
    package init(
        level: LogLevel, format: LogFormat, sink: any LineSink,
        unixMilliseconds: @escaping @Sendable () -> Int64 = { WallClock.unixMilliseconds }
    ) {
        settings = LogSettings(level: level, format: format)
        self.sink = sink
        self.unixMilliseconds = unixMilliseconds
    }

    /// Returns true if lines of this level are written; for callers whose fields are expensive to make.
    package func writes(_ level: LogLevel) -> Bool { level >= settings.level }

    /// Changes the level and format of this log and of every log derived from the same one.
    package func use(level: LogLevel, format: LogFormat) { settings.use(level: level, format: format) }

    /// A log that adds a field to each of its lines.
    package func with(_ key: LogKey, _ value: LogValue) -> Log {
        var copy = self
        copy.context.append((key, value))
        return copy
    }

    /// Writes a line at ``LogLevel/trace``: bytes counted, readiness.
    package func trace(_ message: StaticString, _ fields: KeyValuePairs<LogKey, LogValue> = [:]) {
        write(.trace, message, fields)
    }

    /// Writes a line at ``LogLevel/debug``: one line a request or a decision.
    package func debug(_ message: StaticString, _ fields: KeyValuePairs<LogKey, LogValue> = [:]) {
        write(.debug, message, fields)
    }

    /// Writes a line at ``LogLevel/info``: the life of the process.
    package func info(_ message: StaticString, _ fields: KeyValuePairs<LogKey, LogValue> = [:]) {
        write(.info, message, fields)
    }

    /// Writes a line at ``LogLevel/notice``: the state of an identity changed.
    package func notice(_ message: StaticString, _ fields: KeyValuePairs<LogKey, LogValue> = [:]) {
        write(.notice, message, fields)
    }

    /// Writes a line at ``LogLevel/warning``: something failed and is tried again by itself.
    package func warning(_ message: StaticString, _ fields: KeyValuePairs<LogKey, LogValue> = [:]) {
        write(.warning, message, fields)
    }

    /// Writes a line at ``LogLevel/error``: a request was lost, or somebody has to act.
    package func error(_ message: StaticString, _ fields: KeyValuePairs<LogKey, LogValue> = [:]) {
        write(.error, message, fields)
    }

    private func write(_ level: LogLevel, _ message: StaticString, _ fields: KeyValuePairs<LogKey, LogValue>)
    {
        guard writes(level) else { return }
        var line = LogLine(format: settings.format)
        line.begin(unixMilliseconds: unixMilliseconds(), level: level, message: message.description)
        for (key, value) in context { line.add(key, value) }
        for (key, value) in fields { line.add(key, value) }
        sink.write(line.finished())
    }
}
