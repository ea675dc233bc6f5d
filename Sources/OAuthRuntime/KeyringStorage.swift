// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
import BearerdSystem
import BearerdTokenStore

/// The key of a directory of sessions in the user's Secret Service (the freedesktop.org API).
///
/// It is asked by `secret-tool`, a process of its own: libsecret may wait for ever for a silent service, or for a person, and
/// brings threads along that a program did not ask for. The attributes are those of bearerd's `store.encryption_key_keyring`,
/// so that a key of one name is the same for both.
package enum KeyringStorage {
    /// Too short for a person to unlock a keyring, which therefore has to be unlocked before.
    private static let limit: Duration = .seconds(5)
    private static let longestAnswer = 4096
    /// The environment variables that `secret-tool` gets: for the bus, and for libraries.
    private static let variables = [
        "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "HOME", "LD_LIBRARY_PATH", "PATH",
    ]

    /// Prints a letter and what it is about: `K` and the key, `N` for none, `E` and a reason, `L` where there is no `secret-tool`.
    ///
    /// The key that may be made is in the environment, which only this user's processes can read, and not in the arguments. Of
    /// several that make one at once the first does.
    private static let script = """
        command -v secret-tool >/dev/null || { printf L; exit; }
        find() { secret-tool lookup application bearerd key "$NAME"; }
        problem=$(find 2>&1 >/dev/null) && { printf K; find; exit; }
        [ -z "$problem" ] || { printf 'E%s' "$problem"; exit; }
        [ -n "$KEY" ] || { printf N; exit; }
        umask 077
        mkdir -p -- "$DIRECTORY" && exec 9>"$DIRECTORY/.keyring-lock" && flock 9 || exit
        find >/dev/null 2>&1 && { printf K; find; exit; }
        problem=$(printf %s "$KEY" | secret-tool store --label="bearerd: $NAME" application bearerd key "$NAME" 2>&1) ||
            { printf 'E%s' "$problem"; exit; }
        printf K
        find
        """

    /// The key of this name, which is made if there is none, unless the directory has sessions that another one has encrypted.
    ///
    /// Blocks until the Secret Service answers, at most five seconds.
    ///
    /// - Parameters:
    ///   - name: the key's name.
    ///   - directory: where the sessions are.
    ///   - environment: where the bus is; nil for this process's own.
    /// - Returns: 32 bytes in base64.
    /// - Throws: `AuthRuntimeError` with a remedy.
    package static func key(
        named name: String, for directory: String, environment: [String: String]? = nil
    ) throws(AuthRuntimeError) -> Secret {
        let subject = "keyring: the key '\(name)'"
        let isNeeded = StoreDirectory.holdsEncrypted(directory)
        var environment =
            environment
            ?? variables.reduce(into: [:]) { known, name in known[name] = CurrentProcess.environment(name) }
        environment["NAME"] = name
        environment["DIRECTORY"] = directory
        if !isNeeded { environment["KEY"] = Base64.encode(SecureRandom.bytes(AESGCM.keyBytes)) }
        let output: (bytes: [UInt8], isWhole: Bool)
        do throws(SystemError) {
            output = try ChildProcess.output(
                of: ["/bin/sh", "-c", script], environment: environment, limit: limit, longest: longestAnswer)
        } catch {
            throw AuthRuntimeError(reason: "\(subject) cannot be asked for: \(error)")
        }
        guard output.isWhole, let first = output.bytes.first else {
            throw AuthRuntimeError(
                reason:
                    "\(subject) cannot be had: the Secret Service does not answer, or waits for a person to unlock it"
            )
        }
        let rest = Array(output.bytes.dropFirst())
        switch first {
        case UInt8(ascii: "K"):
            guard let key = key(rest) else {
                throw AuthRuntimeError(
                    reason:
                        "\(subject) is not 32 bytes, nor those in hexadecimal or base64: remove it, or use another name"
                )
            }
            return key
        case UInt8(ascii: "N"):
            throw AuthRuntimeError(
                reason:
                    "\(subject) is not in the keyring, but sessions in \(directory) are encrypted: put it back, or move "
                    + "the directory away and log in again")
        case UInt8(ascii: "L"):
            throw AuthRuntimeError(
                reason: "\(subject) cannot be had: there is no secret-tool; install libsecret-tools, or use "
                    + "encryptedDirectory with a key of your own")
        default:
            let words = String(decoding: rest.prefix(200), as: UTF8.self).trimmed
            throw AuthRuntimeError(
                reason: "\(subject) cannot be had of the Secret Service (\(SecretListing.cleared(words))); "
                    + "encryptedDirectory with a key of your own needs none")
        }
    }

    /// Other programs write a key as text, with a line end.
    private static func key(_ bytes: [UInt8]) -> Secret? {
        if bytes.count == AESGCM.keyBytes { return Secret(Base64.encode(bytes)) }
        let text = bytes.last == UInt8(ascii: "\n") ? Array(bytes.dropLast()) : bytes
        return SealingKey.bytes(of: Secret(bytes: text)).map { Secret(Base64.encode($0.plaintextBytes)) }
    }
}

extension String {
    /// Without white space at either end.
    fileprivate var trimmed: String {
        let start = drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }
}
