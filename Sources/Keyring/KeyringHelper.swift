// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdSystem
internal import CBearerdKeyring
internal import Glibc

/// The process that asks the Secret Service; it is this program run once more, because libsecret may wait for ever
/// for a silent service or for a person.
///
/// It is started with the mode and the key's name, answers on its standard output, and is killed if it takes too
/// long.
package enum KeyringHelper {
    /// The treatment of a missing key: it is made, or only looked for.
    enum Mode: String {
        case make
        case look
    }

    /// The first word of its command line; no command has this name.
    static let word = "keyring-helper"
    /// Seconds after which the kernel ends it, in case its parent is gone.
    private static let longestLife: CUnsignedInt = 3
    /// Bytes for a value, and for the text of a failure.
    private static let room = 256

    /// Does the helper's work if a command line asks for it, and returns true if it did.
    package static func answers(_ words: [String]) -> Bool {
        guard words.count == 3, words[0] == word, let mode = Mode(rawValue: words[1]),
            !CurrentProcess.isTerminal(STDOUT_FILENO)
        else { return false }
        alarm(longestLife)
        let made = mode == .make ? SecureRandom.bytes(AESGCM.keyBytes) : []
        var value = [UInt8](repeating: 0, count: room)
        var count = room
        var reason = [CChar](repeating: 0, count: room)
        let outcome = made.withUnsafeBufferPointer { made in
            bearerd_keyring_ask(
                words[2], made.isEmpty ? nil : made.baseAddress, made.count, &value, &count, &reason,
                reason.count)
        }
        // A value that was truncated is longer than a key and is refused.
        let answer = KeyringAnswer.bytes(
            outcome, value: Array(value.prefix(count)),
            reason: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
        try? StandardStream.output.write(answer)
        return true
    }
}
