// SPDX-License-Identifier: Apache-2.0

/// Turns what is stored into the bytes that lie on the disk, and back.
package protocol Sealer: Sendable {
    /// Makes the bytes to write.
    ///
    /// - Parameters:
    ///   - plaintext: an encoded session.
    ///   - identity: whose it is; bytes sealed for one identity do not open as another's.
    /// - Returns: the bytes.
    func seal(_ plaintext: [UInt8], for identity: String) -> [UInt8]

    /// Reads what ``seal(_:for:)`` wrote.
    ///
    /// - Parameters:
    ///   - sealed: the bytes found.
    ///   - identity: whose they ought to be.
    /// - Returns: the encoded session; nil if the bytes are damaged.
    func open(_ sealed: [UInt8], for identity: String) -> [UInt8]?
}

/// Leaves the bytes as they are: the file's mode alone protects them.
package struct PlainSealer: Sealer {
    package init() {}

    package func seal(_ plaintext: [UInt8], for identity: String) -> [UInt8] { plaintext }

    package func open(_ sealed: [UInt8], for identity: String) -> [UInt8]? { sealed }
}
