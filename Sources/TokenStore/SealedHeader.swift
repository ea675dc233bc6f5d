// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The first line of an encrypted file: its kind, the version of its layout, the name of its key.
///
/// The cipher authenticates the line together with the identity, so that no file passes for another.
struct SealedHeader {
    private static let kind = Array("bearerd-sealed ".utf8)
    private static let magic = kind + Array("1 aes-256-gcm ".utf8)

    let bytes: [UInt8]

    /// - Parameter keyName: the same for the same key; does not help to guess the key.
    init(keyName: [UInt8]) { bytes = SealedHeader.magic + keyName + [UInt8(ascii: "\n")] }

    /// Returns true if a file is encrypted, with any key; one that is cut inside of its header is only damaged.
    static func isSealed(_ file: [UInt8]) -> Bool { file.starts(with: magic) && hasLine(file) }

    private static func hasLine(_ file: [UInt8]) -> Bool { file.contains(UInt8(ascii: "\n")) }

    /// Returns true if a file is encrypted in a layout that only later versions know.
    static func isOfLaterLayout(_ file: [UInt8]) -> Bool {
        guard file.starts(with: kind), hasLine(file), !isSealed(file) else { return false }
        return file.dropFirst(kind.count).first.map { UInt8(ascii: "1")...UInt8(ascii: "9") ~= $0 } ?? false
    }
}
