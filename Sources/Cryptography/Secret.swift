// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A credential that must never reach a log, an error message or a metric label.
///
/// Copies share one block of memory, which is overwritten when the last one goes. Until then, and for ten minutes more, no
/// text of a peer's that repeats a piece of it is shown.
public struct Secret: Sendable {
    private let storage: Storage

    /// A secret with this text; the caller's copy of the text is the caller's to forget.
    public init(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    /// A secret with these bytes, which need not be text.
    public init(bytes: [UInt8]) {
        storage = Storage(bytes, SecretListing(bytes))
    }

    /// A secret that one request brings or carries: where it is kept for longer, somebody keeps a ``SecretListing``.
    package init(unlisted bytes: [UInt8]) {
        storage = Storage(bytes, nil)
    }

    /// Whether there is nothing to keep secret.
    public var isEmpty: Bool { storage.bytes.isEmpty }

    /// Lends the text; bytes that are not UTF-8 are replaced by U+FFFD.
    ///
    /// This and its sibling are the only ways to read it, so `grep withPlaintext` audits every use.
    ///
    /// - Parameter use: must not let the text outlive what needs it.
    /// - Returns: what `use` returns.
    /// - Throws: what `use` throws.
    public func withPlaintext<Result: ~Copyable, Failure: Error>(
        _ use: (String) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try use(String(decoding: storage.bytes, as: UTF8.self))
    }

    /// Lends the bytes, without making a copy of them.
    ///
    /// - Parameter use: must not let the bytes outlive what needs them.
    /// - Returns: what `use` returns.
    /// - Throws: what `use` throws.
    public func withPlaintextBytes<Result: ~Copyable, Failure: Error>(
        _ use: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try use(storage.bytes.span)
    }

    /// The bytes, for the one place that cannot lend them: whoever keeps them keeps them from being overwritten.
    package var plaintextBytes: [UInt8] { storage.bytes }

    /// Compares in a time that depends on the length alone.
    public func matches(_ candidate: [UInt8]) -> Bool {
        ConstantTime.equal(storage.bytes, candidate)
    }

    /// The same for what another one holds.
    package func matches(_ candidate: Secret) -> Bool { matches(candidate.storage.bytes) }

    /// Owns the bytes alone, so that overwriting them in `deinit` makes no copy.
    private final class Storage: Sendable {
        // Written in `deinit` only, when nobody else can see it.
        private nonisolated(unsafe) var owned: [UInt8]
        private let listing: SecretListing?
        var bytes: [UInt8] { owned }

        init(_ bytes: [UInt8], _ listing: SecretListing?) {
            owned = bytes
            self.listing = listing
        }

        deinit {
            owned.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
        }
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says what it is, and nothing of what is in it.
    public var description: String { "[redacted]" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// Shows nothing of what is in it.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
