// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
internal import BearerdSystem

/// A key of 32 bytes in the user's Secret Service (the freedesktop.org API).
package enum KeyringKey {
    /// Short enough to report a failure within two seconds of the start.
    private static let limit: Duration = .milliseconds(1700)
    /// More bytes than any answer has.
    private static let longestAnswer = 1024
    /// The environment variables that the helper gets: for the bus, and for libraries.
    private static let variables = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "HOME", "LD_LIBRARY_PATH"]

    /// Asks for a key; blocks for less than two seconds; call it before the sandbox is entered.
    ///
    /// - Parameters:
    ///   - name: the key's name.
    ///   - makesIt: true to make a key if there is none.
    /// - Returns: the key in base64; nil if there is none.
    package static func ask(for name: String, makingIt makesIt: Bool) throws(KeyringError) -> Secret? {
        let mode = makesIt ? KeyringHelper.Mode.make : .look
        let environment = variables.reduce(into: [String: String]()) { known, name in
            known[name] = CurrentProcess.environment(name)
        }
        let output: (bytes: [UInt8], isWhole: Bool)
        do throws(SystemError) {
            output = try ChildProcess.output(
                of: ["/proc/self/exe", KeyringHelper.word, mode.rawValue, name], environment: environment,
                limit: limit, longest: longestAnswer)
        } catch {
            throw .failed("it cannot be asked: \(error)")
        }
        guard output.isWhole else { throw .mute }
        switch KeyringAnswer(output.bytes) {
        case .key(let bytes)?: return Secret(Base64.encode(bytes))
        case KeyringAnswer.none?: return nil
        case .failure(let error)?: throw error
        case nil: throw .failed("whoever asked it ended without an answer")
        }
    }
}
