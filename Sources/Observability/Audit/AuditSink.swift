// SPDX-License-Identifier: Apache-2.0

package import BearerdSystem

/// Where finished lines of the audit go.
package protocol AuditSink: Sendable {
    /// Takes whole lines, each ended by a line feed.
    ///
    /// Never blocks: a sink that cannot keep up drops lines and counts them.
    ///
    /// - Parameter count: how many lines they are.
    func write(_ lines: [UInt8], count: Int)
}

extension AppendedFile: AuditSink {}
