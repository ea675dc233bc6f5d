// SPDX-License-Identifier: Apache-2.0

import Cryptography
import System

/// The files of one identity.
struct StorePaths {
    /// What names of ours look like; other files in the directory are not looked at.
    static let suffix = ".session"

    /// The newest generation.
    let current: FilePlace
    /// The generation before, for when the newest is damaged.
    var previous: FilePlace { current.appending(StorePaths.previousSuffix) }
    /// Locked by whoever changes the identity, never read.
    var lock: FilePlace { current.appending(".lock") }

    /// Locked by whoever wants that lock for a person, never read.
    var claim: FilePlace { current.appending(".claim") }

    private static let previousSuffix = ".previous"

    init(of identity: String, in directory: OpenDirectory) {
        current = directory.file(StorePaths.name(of: identity))
    }

    /// What the file with the newest generation is called.
    static func name(of identity: String) -> String { fileName(for: identity) + suffix }

    /// Where a damaged file is put aside.
    ///
    /// - Parameter milliseconds: since 1970.
    /// - Returns: a place in the same directory.
    func damaged(atMilliseconds milliseconds: Int64) -> FilePlace {
        current.appending(".damaged-\(milliseconds)")
    }

    /// Where the generation before that in `current` is.
    static func previous(of current: String) -> String { current + previousSuffix }

    /// Whether a file of this name holds a session, of whatever generation.
    static func isSession(_ name: String) -> Bool {
        name.hasSuffix(suffix) || name.hasSuffix(previous(of: suffix))
    }

    /// Whether a file of this name is one of ours.
    static func isOurs(_ name: String) -> Bool {
        name.hasSuffix(suffix) || name.contains(suffix + ".") || name == EncryptionMark.fileName
    }

    /// A name without `/`, `.` or control bytes, different for different identities: RFC 3986's
    /// percent-encoding of all but letters, digits, `-` and `_`; a hash where that gets too long for a file
    /// system.
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
        guard (1...128).contains(name.utf8.count) else {
            return "=" + Base64URL.encode(SHA256.digest(Array(identity.utf8)))
        }
        return name
    }
}
