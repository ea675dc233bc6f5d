// SPDX-License-Identifier: Apache-2.0

/// Turns encoded sessions into the bytes on disk, and back.
package protocol Sealer: Sendable {
    /// The bytes to write for an encoded session. They open for the same identity only.
    func seal(_ plaintext: [UInt8], for identity: String) -> [UInt8]

    /// Opens bytes that ``seal(_:for:)`` made for this identity.
    func open(_ sealed: [UInt8], for identity: String) -> Unsealed

    /// True if ``seal(_:for:)`` encrypts.
    var encrypts: Bool { get }

    /// Returns true for the beginning of bytes that are sealed with another key.
    func isForeign(_ sealed: [UInt8]) -> Bool

    /// Why a foreign file cannot be opened; follows its path in a message.
    var foreignProblem: String { get }
}

/// The result of opening bytes from the disk.
package enum Unsealed: Equatable, Sendable {
    /// An encoded session.
    case plaintext([UInt8])
    /// An encoded session that is plain though it should not be.
    case unencrypted([UInt8])
    /// No session that was sealed for this identity.
    case damaged
    /// Sealed with another key than ours.
    case foreign
}

/// Writes sessions as they are; only the file's mode protects them.
package struct PlainSealer: Sealer {
    package init() {}

    package var encrypts: Bool { false }

    package func seal(_ plaintext: [UInt8], for identity: String) -> [UInt8] { plaintext }

    package func open(_ sealed: [UInt8], for identity: String) -> Unsealed {
        isForeign(sealed) ? .foreign : .plaintext(sealed)
    }

    package func isForeign(_ sealed: [UInt8]) -> Bool { SealedHeader.isSealed(sealed) }

    package var foreignProblem: String {
        "is encrypted: set store.encryption_key to the key it was made with"
    }
}
