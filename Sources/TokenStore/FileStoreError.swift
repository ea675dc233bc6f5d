// SPDX-License-Identifier: Apache-2.0

package import System

/// Why a store cannot be opened.
package enum FileStoreError: Error, Equatable, Sendable {
    /// Others could read or change what is in there; nothing is repaired in silence, as it may have been
    /// read.
    case insecure(path: String, problem: String)
    /// A session lies in plain text in a store that encrypts, and cannot be from before the key.
    case plainText(path: String)
    /// A session is encrypted with a key that we were not given; it is left as it is.
    case foreign(path: String, problem: String)
    /// The key that sessions are to be encrypted with is none.
    case badKey
    /// A call failed; ``System/SystemError/isPermission`` tells a lack of rights from other reasons.
    case unusable(SystemError)
}

extension FileStoreError: CustomStringConvertible {
    /// What, where and what to do, in one line.
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
