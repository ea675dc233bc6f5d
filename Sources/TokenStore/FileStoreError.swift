// SPDX-License-Identifier: Apache-2.0

package import BearerdSystem

/// The reason why a store cannot be opened.
package enum FileStoreError: Error, Equatable, Sendable {
    /// The problem of a name that is no directory's.
    package static let noDirectory = "is not a directory"
    /// The problem of a name that is no file's.
    package static let noFile = "is not a regular file"

    /// Others could read or change it. That is not repaired in silence: it may have been read.
    case insecure(path: String, problem: String)
    /// A session is plain in an encrypted store and cannot be older than the key.
    case plainText(path: String)
    /// A session is encrypted with another key; it is left as it is.
    case foreign(path: String, problem: String)
    /// The key is not 32 bytes.
    case badKey
    /// A call failed; ``BearerdSystem/SystemError/isPermission`` tells missing rights from other reasons.
    case unusable(SystemError)
}

extension FileStoreError: CustomStringConvertible {
    /// The problem, the path and the remedy, in one line.
    package var description: String {
        switch self {
        case .insecure(let path, let problem): "\(path): \(problem)"
        case .plainText(let path): "\(path): \(EncryptionMark.problem)"
        case .foreign(let path, let problem): "\(path) \(problem)"
        case .badKey: "the key is not 32 bytes in hexadecimal or base64"
        case .unusable(let error): "\(error)"
        }
    }
}
