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
    /// - Returns: the encoded session, or what the bytes are instead.
    func open(_ sealed: [UInt8], for identity: String) -> Unsealed

    /// Whether ``seal(_:for:)`` hides anything.
    var encrypts: Bool { get }

    /// Whether bytes that begin so are sealed with a key that is not this one.
    func isForeign(_ sealed: [UInt8]) -> Bool

    /// What is wrong with a file that ``isForeign(_:)``, after its path.
    var foreignProblem: String { get }
}

/// What bytes of the disk turned out to be.
package enum Unsealed: Equatable, Sendable {
    /// An encoded session.
    case plaintext([UInt8])
    /// An encoded session that lies there unencrypted, though it should not.
    case unencrypted([UInt8])
    /// Nothing that was sealed for this identity.
    case damaged
    /// Sealed with a key that is not ours.
    case foreign
}

/// Leaves the bytes as they are: the file's mode alone protects them.
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
