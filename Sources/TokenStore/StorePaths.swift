// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdSystem

/// The files of one identity.
struct StorePaths {
    /// The suffix of our files; others in the directory are ignored.
    static let suffix = ".session"

    /// The newest generation.
    let current: FilePlace
    /// The previous generation, for the case that the newest is damaged.
    var previous: FilePlace { current.appending(StorePaths.previousSuffix) }
    /// Locked by the process that changes the identity; never read.
    var lock: FilePlace { current.appending(".lock") }

    /// Locked by a process that wants that lock for a person; never read.
    var claim: FilePlace { current.appending(".claim") }

    private static let previousSuffix = ".previous"

    init(of identity: String, in directory: OpenDirectory) {
        current = directory.file(StorePaths.name(of: identity))
    }

    static func name(of identity: String) -> String { fileName(for: identity) + suffix }

    /// The name for a damaged file, with a time in milliseconds since 1970.
    func damaged(atMilliseconds milliseconds: Int64) -> FilePlace {
        current.appending(".damaged-\(milliseconds)")
    }

    /// The path of the generation before that at `current`.
    static func previous(of current: String) -> String { current + previousSuffix }

    /// Returns true if a file of this name holds a session of any generation.
    static func isSession(_ name: String) -> Bool {
        name.hasSuffix(suffix) || name.hasSuffix(previous(of: suffix))
    }

    static func isOurs(_ name: String) -> Bool {
        name.hasSuffix(suffix) || name.contains(suffix + ".") || name == EncryptionMark.fileName
    }

    /// The file name for an identity: percent-encoded (RFC 3986) but for letters, digits, `-` and `_`, or a hash if
    /// that is too long; different identities have different names.
    private static func fileName(for identity: String) -> String {
        var name = ""
        for byte in identity.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                name += digits.count < 2 ? "%0\(digits)" : "%\(digits)"
            }
        }
        // `=` is in no encoded name, so a hash cannot be mistaken for one.
        guard (1...128).contains(name.utf8.count)
        else { return "=" + Base64URL.encode(SHA256.digest(Array(identity.utf8))) }
        return name
    }
}
