// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Hides peers' texts that repeat a secret, while it lives and for ten minutes more.
///
/// Every ``Secret`` has one. Keep one separately if what was made of a secret outlives it.
package final class SecretListing: Sendable {
    /// The secrets of the process.
    private static let held = Mutex(HeldSecrets(at: .now))

    private let pieces: [UInt64]

    package init(_ secret: [UInt8]) { pieces = Self.held.withLock { $0.hold(secret, at: .now) } }

    deinit {
        guard !pieces.isEmpty else { return }
        Self.held.withLock { [pieces] in $0.release(pieces, at: .now) }
    }

    /// Returns true if a peer's text repeats a part of a secret that the process holds or held in the last ten
    /// minutes.
    package static func isRepeated(in text: String) -> Bool {
        held.withLock { $0.isRepeated(in: text.utf8, at: .now) }
    }

    /// Returns true if the text of a program that knows secrets repeats one that is too short for ``isRepeated(in:)``.
    package static func isShortRepeated(in text: String) -> Bool {
        held.withLock { $0.isShortRepeated(in: text.utf8, at: .now) }
    }

    /// A peer's text, or a remark in its place if it repeats a secret.
    package static func cleared(_ text: String) -> String {
        isRepeated(in: text) ? "(left out: it repeats a secret)" : text
    }
}
