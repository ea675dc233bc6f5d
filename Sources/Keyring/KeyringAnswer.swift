// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import CBearerdKeyring

/// The output of the helper that asks the Secret Service: a byte for the outcome, then the 32 bytes of the key or a
/// reason in UTF-8.
enum KeyringAnswer: Equatable {
    case key([UInt8])
    /// There is no key, and none was to be made.
    case none
    case failure(KeyringError)

    /// The byte for a value that is no key; the others are ``CKeyring``'s.
    private static let foreign = UInt8.max

    /// Reads the output; nil if it is malformed.
    init?(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return nil }
        let rest = bytes.dropFirst()
        switch CInt(first) {
        case BEARERD_KEYRING_FOUND:
            guard rest.count == AESGCM.keyBytes else { return nil }
            self = .key(Array(rest))
        case BEARERD_KEYRING_NONE: self = .none
        case CInt(Self.foreign): self = .failure(.foreign)
        default:
            guard let error = Self.error(CInt(first), String(decoding: rest, as: UTF8.self))
            else { return nil }
            self = .failure(error)
        }
    }

    /// The output for an answer of the Secret Service.
    ///
    /// - Parameters:
    ///   - outcome: one of ``CKeyring``'s.
    ///   - value: the value that was found: 32 bytes, or those in hexadecimal or base64, as other programs write
    ///     them.
    ///   - reason: the reason of a failure.
    static func bytes(_ outcome: CInt, value: [UInt8], reason: [UInt8]) -> [UInt8] {
        guard outcome == BEARERD_KEYRING_FOUND else { return [UInt8(clamping: outcome)] + reason }
        if value.count == AESGCM.keyBytes { return [UInt8(outcome)] + value }
        let lines = value.last == UInt8(ascii: "\n") ? value.dropLast() : value[...]
        guard let key = SealingKey.bytes(of: Secret(bytes: Array(lines))) else { return [foreign] }
        return [UInt8(outcome)] + key.plaintextBytes
    }

    private static func error(_ outcome: CInt, _ reason: String) -> KeyringError? {
        switch outcome {
        case BEARERD_KEYRING_NO_LIBRARY: .noLibrary(reason)
        case BEARERD_KEYRING_NO_BUS: .noBus(reason)
        case BEARERD_KEYRING_NO_SERVICE: .noService(reason)
        case BEARERD_KEYRING_LOCKED: .locked
        case BEARERD_KEYRING_NO_COLLECTION: .noCollection
        case BEARERD_KEYRING_ASKS: .asks
        case BEARERD_KEYRING_SEVERAL: .several
        case BEARERD_KEYRING_FAILED: .failed(reason)
        default: nil
        }
    }
}
