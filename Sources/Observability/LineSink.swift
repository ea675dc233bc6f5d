// SPDX-License-Identifier: Apache-2.0

/// The destination of log lines.
package protocol LineSink: Sendable {
    /// Takes whole lines, each with its line feed, in the order of one thread's calls.
    ///
    /// It never blocks: a sink that cannot keep up drops lines and counts them.
    func write(_ lines: [UInt8])
}
