// SPDX-License-Identifier: Apache-2.0

extension HTTPFields {
    /// A field name: compared without case, written as spelled (RFC 9110 §5.1).
    package struct Name: Hashable, Sendable, CustomStringConvertible {
        let known: KnownFieldName
        /// The name's bit in ``HTTPFields/present``; 0 if it has none.
        package let bit: UInt64
        private let spelling: String

        init(_ known: KnownFieldName) {
            self.known = known
            bit = known == .other ? 0 : known.bit
            self.spelling = known.spelling
        }

        /// For a literal of our own that ``HTTPFields/Name`` has no member for.
        package init(known literal: StaticString) { self.init(unchecked: literal.description) }

        /// A name from outside; nil unless it is a token (RFC 9110 §5.6.2).
        package init?(_ untrusted: String) {
            guard !untrusted.isEmpty, untrusted.utf8.allSatisfy(\.isTokenCharacter) else { return nil }
            guard untrusted.utf8.count <= Int(UInt16.max) else { return nil }
            self.init(unchecked: untrusted)
        }

        private init(unchecked spelling: String) {
            let bytes = Array(spelling.utf8)
            self.known = KnownFieldName.find(in: bytes.span, 0..<bytes.count)
            bit = known == .other ? 0 : known.bit
            self.spelling = spelling
        }

        package var description: String { spelling }

        package static func == (left: Name, right: Name) -> Bool {
            guard left.known == .other, right.known == .other else { return left.known == right.known }
            return left.spelling.utf8.elementsEqual(right.spelling.utf8) {
                $0.asciiLowercased == $1.asciiLowercased
            }
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(known)
            guard known == .other else { return }
            for byte in spelling.utf8 {
                hasher.combine(byte.asciiLowercased)
            }
        }
    }
}
