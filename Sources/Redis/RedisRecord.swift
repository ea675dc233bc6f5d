// SPDX-License-Identifier: Apache-2.0

import OAuth
import TokenStore

/// What the key of an identity holds, as it was found: the generation in digits, a line end, the sealed session.
enum RedisRecord: Equatable {
    case missing
    case present([UInt8])
    /// A value of another type, or one that is too long to be a session.
    case unreadable

    /// Larger than any session.
    static let maximumBytes = 1 << 22
    /// Enough for the generation and its line end.
    static let headBytes = 24

    /// The bytes of a record.
    static func bytes(of session: StoredSession, sealed by: some Sealer) -> [UInt8] {
        Array("\(session.generation)\n".utf8) + by.seal(session.encoded(), for: session.identity)
    }

    /// What is compared to find out whether it has changed: nil for nothing.
    var head: [UInt8]? {
        switch self {
        case .missing: nil
        case .present(let bytes): Array(bytes.prefix(Self.headBytes))
        case .unreadable: []
        }
    }

    /// Which of all records it is.
    struct Stamp: Equatable {
        let generation: Int
        /// The end of what is sealed, which is another one each time.
        let seal: [UInt8]
    }

    /// Nil for what is none of ours.
    var stamp: Stamp? {
        guard case .present(let bytes) = self,
            let end = bytes.prefix(Self.headBytes).firstIndex(of: UInt8(ascii: "\n")),
            let generation = Int(String(decoding: bytes[..<end], as: UTF8.self))
        else { return nil }
        return Stamp(generation: generation, seal: Array(bytes[end...].suffix(24)))
    }

    /// What the record turns out to be.
    enum Content {
        case missing
        case damaged
        /// Sealed with a key that is not ours.
        case foreign
        /// Written by a later version of this program.
        case later
        case whole(StoredSession)

        var session: StoredSession? {
            if case .whole(let session) = self { session } else { nil }
        }
    }

    /// Opens the record of an identity; what is not sealed, or not for it, or says another generation than it has, is
    /// damaged.
    func content(of identity: String, _ sealer: some Sealer) -> Content {
        switch self {
        case .missing: return .missing
        case .unreadable: return .damaged
        case .present(let bytes):
            guard let end = bytes.prefix(Self.headBytes).firstIndex(of: UInt8(ascii: "\n")) else {
                return .damaged
            }
            switch sealer.open(Array(bytes[(end + 1)...]), for: identity) {
            case .foreign: return .foreign
            case .damaged, .unencrypted: return .damaged
            case .plaintext(let plaintext):
                guard let session = StoredSession(decoding: plaintext) else {
                    return StoredSession.isOfLaterLayout(plaintext) ? .later : .damaged
                }
                let head = String(decoding: bytes[..<end], as: UTF8.self)
                return session.identity == identity && head == "\(session.generation)"
                    ? .whole(session) : .damaged
            }
        }
    }
}
