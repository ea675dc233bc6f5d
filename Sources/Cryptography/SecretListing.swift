// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Has no text of a peer's shown that repeats a secret, for as long as it is kept and ten minutes more.
///
/// Every ``Secret`` has one. Whoever lets go of a secret but not of what came of it keeps one by itself.
package final class SecretListing: Sendable {
    /// Those of the process.
    private static let held = Mutex(HeldSecrets(at: .now))

    private let pieces: [UInt64]

    package init(_ secret: [UInt8]) {
        pieces = Self.held.withLock { $0.hold(secret, at: .now) }
    }

    deinit {
        guard !pieces.isEmpty else { return }
        Self.held.withLock { [pieces] in $0.release(pieces, at: .now) }
    }

    /// Whether a text of a peer's must not be shown, because it repeats a piece of a secret that the process holds, or held
    /// in the last ten minutes.
    package static func isRepeated(in text: String) -> Bool {
        held.withLock { $0.isRepeated(in: text.utf8, at: .now) }
    }

    /// A text of a peer's, or what is shown in its place.
    package static func cleared(_ text: String) -> String {
        isRepeated(in: text) ? "(left out: it repeats a secret)" : text
    }
}
