// SPDX-License-Identifier: Apache-2.0

internal import CKeyring
internal import Cryptography
internal import Glibc
internal import System

/// The process that asks the Secret Service: this program once more, since libsecret may wait for ever for a service that
/// does not answer, and for a person whom nobody sees.
///
/// It is started with the mode and the key's name, answers on its standard output, and is killed where it takes too long.
package enum KeyringHelper {
    /// Whether a key is made where there is none.
    enum Mode: String {
        case make
        case look
    }

    /// Of the command line that asks for it; no command is called so.
    static let word = "keyring-helper"
    /// Where whoever started it has gone away meanwhile, the kernel ends it after so many seconds.
    private static let longestLife: CUnsignedInt = 3
    /// Room for a value, and for what text there is about a failure.
    private static let room = 256

    /// Does the helper's work if these words of a command line ask for it, and returns when it is done.
    ///
    /// - Returns: whether they did.
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
        // What is longer than there is room for is no key, however much of it there is.
        let answer = KeyringAnswer.bytes(
            outcome, value: Array(value.prefix(count)),
            reason: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
        try? StandardStream.output.write(answer)
        return true
    }
}
