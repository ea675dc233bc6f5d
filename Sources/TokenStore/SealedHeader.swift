// SPDX-License-Identifier: Apache-2.0

import Cryptography

/// The line that an encrypted file begins with: what it is, its layout's version, its key's name.
///
/// The cipher authenticates the line together with the identity, so that no file passes for another.
struct SealedHeader {
    private static let kind = Array("bearerd-sealed ".utf8)
    private static let magic = kind + Array("1 aes-256-gcm ".utf8)

    let bytes: [UInt8]

    /// - Parameter keyName: the same for the same key; says nothing of it that helps to guess it.
    init(keyName: [UInt8]) {
        bytes = SealedHeader.magic + keyName + [UInt8(ascii: "\n")]
    }

    /// Whether a file is encrypted, with whatever key.
    static func isSealed(_ file: [UInt8]) -> Bool { file.starts(with: magic) }

    /// Whether a file is encrypted in a way that only a later version of this program knows.
    static func isOfLaterLayout(_ file: [UInt8]) -> Bool {
        guard file.starts(with: kind), !isSealed(file) else { return false }
        return file.dropFirst(kind.count).first.map { UInt8(ascii: "1")...UInt8(ascii: "9") ~= $0 } ?? false
    }
}
