// SPDX-License-Identifier: Apache-2.0

internal import CBearerdOpenSSL

/// A credential that must never reach a log, an error message or a metric label.
///
/// Copies share one block of memory, which is overwritten when the last one goes. Until ten minutes after that, no
/// text of a peer that repeats a part of it is shown.
public struct Secret: Sendable {
    private let storage: Storage

    /// A secret with this text; copies of the text that the caller has are not overwritten.
    public init(_ text: String) { self.init(bytes: Array(text.utf8)) }

    /// A secret with these bytes, which need not be text.
    public init(bytes: [UInt8]) { storage = Storage(bytes, SecretListing(bytes)) }

    /// A secret for one request; whoever keeps it longer keeps a ``SecretListing`` too.
    package init(unlisted bytes: [UInt8]) { storage = Storage(bytes, nil) }

    /// True if there is nothing to keep secret.
    public var isEmpty: Bool { storage.bytes.isEmpty }

    /// Lends the text; bytes that are not UTF-8 are replaced by U+FFFD.
    ///
    /// This and its sibling are the only ways to read it, so `grep withPlaintext` audits every use.
    ///
    /// - Parameter use: must not let the text outlive its use.
    public func withPlaintext<Result: ~Copyable, Failure: Error>(
        _ use: (String) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try use(String(decoding: storage.bytes, as: UTF8.self))
    }

    /// Lends the bytes without copying them.
    ///
    /// - Parameter use: must not let the bytes outlive their use.
    public func withPlaintextBytes<Result: ~Copyable, Failure: Error>(
        _ use: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try use(storage.bytes.span)
    }

    /// A copy of the bytes, for callers that cannot borrow them; it is not overwritten.
    package var plaintextBytes: [UInt8] { storage.bytes }

    /// Compares in a time that depends only on the length.
    public func matches(_ candidate: [UInt8]) -> Bool { ConstantTime.equal(storage.bytes, candidate) }

    package func matches(_ candidate: Secret?) -> Bool {
        candidate.map { matches($0.storage.bytes) } ?? false
    }

    /// Sole owner of the bytes, so that overwriting them in `deinit` makes no copy.
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
            // Moved out: to lend it here would have the language check each look at it.
            var last: [UInt8] = []
            swap(&last, &owned)
            last.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
        }
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text without any part of the secret.
    public var description: String { "[redacted]" }
    /// Equal to `description`, so no secret reaches a debugger's print.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
