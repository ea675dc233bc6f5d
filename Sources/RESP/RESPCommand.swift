// SPDX-License-Identifier: Apache-2.0

/// A command for Redis: its name and arguments, as bytes.
package struct RESPCommand: Sendable {
    private let parts: [[UInt8]]

    package init(_ parts: [[UInt8]]) { self.parts = parts }

    package init(_ words: String...) { parts = words.map { Array($0.utf8) } }

    /// The wire form, an array of bulk strings.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(parts.reduce(16) { $0 + $1.count + 16 })
        bytes.append(contentsOf: "*\(parts.count)\r\n".utf8)
        for part in parts {
            bytes.append(contentsOf: "$\(part.count)\r\n".utf8)
            bytes.append(contentsOf: part)
            bytes.append(contentsOf: "\r\n".utf8)
        }
        return bytes
    }
}
