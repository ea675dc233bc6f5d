// SPDX-License-Identifier: Apache-2.0

import BearerdTokenStore
import OAuth

/// The value of an identity's key as it was found: the generation in digits, a line end, the sealed session.
enum RedisRecord: Equatable {
    case missing
    case present([UInt8])
    /// A value of another type, or one that is too long for a session.
    case unreadable

    /// More bytes than any session has, which bounds itself, sealed or not.
    static let maximumBytes = 7 << 20
    /// Enough bytes for the generation and its line end.
    static let headBytes = 24

    /// The value to write for a session.
    static func bytes(of session: StoredSession, sealed by: some Sealer) -> [UInt8] {
        Array("\(session.generation)\n".utf8) + by.seal(session.encoded(), for: session.identity)
    }

    /// The bytes that are compared to find a change; nil for no value.
    var head: [UInt8]? {
        switch self {
        case .missing: nil
        case .present(let bytes): Array(bytes.prefix(Self.headBytes))
        case .unreadable: []
        }
    }

    /// The identity of one record among all that were ever written.
    struct Stamp: Equatable {
        let generation: Int
        /// The end of the sealed session, which differs each time.
        let seal: [UInt8]
    }

    /// The stamp; nil for a value that is none of ours.
    var stamp: Stamp? {
        guard case .present(let bytes) = self,
            let end = bytes.prefix(Self.headBytes).firstIndex(of: UInt8(ascii: "\n")),
            let generation = Int(String(decoding: bytes[..<end], as: UTF8.self))
        else { return nil }
        return Stamp(generation: generation, seal: Array(bytes[end...].suffix(24)))
    }

    /// The content of an opened record.
    enum Content {
        case missing
        case damaged
        /// Sealed with another key than ours.
        case foreign
        /// Written by a later version of this program.
        case later
        case whole(StoredSession)

        var session: StoredSession? {
            if case .whole(let session) = self { session } else { nil }
        }
    }

    /// Opens an identity's record; it is damaged if it is unsealed, sealed for another identity, or of another
    /// generation than it says.
    func content(of identity: String, _ sealer: some Sealer) -> Content {
        switch self {
        case .missing: return .missing
        case .unreadable: return .damaged
        case .present(let bytes):
            guard let end = bytes.prefix(Self.headBytes).firstIndex(of: UInt8(ascii: "\n"))
            else { return .damaged }
            switch sealer.open(Array(bytes[(end + 1)...]), for: identity) {
            case .foreign: return .foreign
            case .damaged, .unencrypted: return .damaged
            case .plaintext(let plaintext):
                guard let session = StoredSession(decoding: plaintext)
                else { return StoredSession.isOfLaterLayout(plaintext) ? .later : .damaged }
                let head = String(decoding: bytes[..<end], as: UTF8.self)
                return session.identity == identity && head == "\(session.generation)"
                    ? .whole(session) : .damaged
            }
        }
    }
}
