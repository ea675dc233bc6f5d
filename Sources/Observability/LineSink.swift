// SPDX-License-Identifier: Apache-2.0

/// Where finished log lines go.
package protocol LineSink: Sendable {
    /// Takes whole lines, each ended by a line feed, in the order of the calls of one thread.
    ///
    /// Never blocks: a sink that cannot keep up drops lines and counts them.
    func write(_ lines: [UInt8])
}
