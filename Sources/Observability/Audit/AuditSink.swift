// SPDX-License-Identifier: Apache-2.0

package import BearerdSystem

/// The destination of audit lines.
package protocol AuditSink: Sendable {
    /// Takes whole lines, each with its line feed.
    ///
    /// It never blocks: a sink that cannot keep up drops lines and counts them.
    ///
    /// - Parameter count: the number of lines.
    func write(_ lines: [UInt8], count: Int)
}

extension AppendedFile.Use: AuditSink {
    package func write(_ lines: [UInt8], count: Int) { file.write(lines, count: count) }
}
