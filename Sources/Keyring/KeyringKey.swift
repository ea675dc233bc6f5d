// SPDX-License-Identifier: Apache-2.0

package import Cryptography
internal import System

/// A key of 32 bytes that the user's Secret Service keeps (the Secret Service API of freedesktop.org).
package enum KeyringKey {
    /// With what else there is to start and to say, a failure is told within two seconds.
    private static let limit: Duration = .milliseconds(1700)
    /// More than any answer takes, in bytes.
    private static let longestAnswer = 1024
    /// What the process that asks gets to know of our environment: where the bus is, and where libraries are.
    private static let variables = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "HOME", "LD_LIBRARY_PATH"]

    /// Asks for a key; blocks, for less than two seconds.
    ///
    /// Call it before the process locks itself in.
    ///
    /// - Parameters:
    ///   - name: tells it from others.
    ///   - makesIt: whether one is made where there is none.
    /// - Returns: the key in base64, as people write it; nil if there is none.
    /// - Throws: ``KeyringError``.
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
