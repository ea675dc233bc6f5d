// SPDX-License-Identifier: Apache-2.0

/// A pattern for one kind of name in a certificate: `*` stands for one whole label or path segment that is not empty.
package struct CertificateNamePattern: Equatable, Sendable {
    private enum Kind { case host, uri }

    /// The pattern as written.
    package let text: String
    private let kind: Kind
    private let parts: [Substring]

    /// A pattern for host names, such as `*.clients.example.com`; nil if the text is none.
    package init?(host text: String) {
        let parts = Self.parts(of: text.lowercased(), .host)
        guard text.utf8.count <= 253, parts.allSatisfy(Self.isLabel) else { return nil }
        (self.text, kind, self.parts) = (text, .host, parts)
    }

    /// A pattern for URIs, such as `spiffe://example.org/ns/*/sa/app`; nil if the text is none.
    package init?(uri text: String) {
        let parts = Self.parts(of: text, .uri)
        guard let scheme = parts.first?.split(separator: ":", omittingEmptySubsequences: false).first,
            scheme.utf8.count < text.utf8.count - 1, scheme != parts.first, Self.isScheme(scheme),
            text.utf8.allSatisfy(Self.isPrintable), parts.allSatisfy({ $0 == "*" || !$0.contains("*") })
        else { return nil }
        (self.text, kind, self.parts) = (text, .uri, parts)
    }

    /// Returns true if a certificate's name of this kind is one of those that the pattern stands for.
    ///
    /// Hosts are compared without case, URIs byte by byte. A name with a space or a byte outside ASCII never fits.
    package func fits(_ name: String) -> Bool {
        guard name.utf8.allSatisfy(Self.isPrintable) else { return false }
        let given = Self.parts(of: kind == .host ? name.lowercased() : name, kind)
        guard given.count == parts.count else { return false }
        return zip(parts, given).allSatisfy { part, own in part == "*" ? isOne(own) : part == own }
    }

    /// Returns true if `*` may stand for this part: dots, escapes, queries and fragments could mean another one.
    private func isOne(_ part: Substring) -> Bool {
        switch kind {
        case .host: !part.isEmpty
        case .uri: !part.isEmpty && part != "." && part != ".." && !part.contains { "%?#".contains($0) }
        }
    }

    private static func parts(of text: String, _ kind: Kind) -> [Substring] {
        text.split(separator: kind == .host ? "." : "/", omittingEmptySubsequences: false)
    }

    private static func isPrintable(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) }

    private static func isLabel(_ label: Substring) -> Bool {
        label == "*"
            || ((1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy { isAlphanumeric($0) || "-_".utf8.contains($0) })
    }

    private static func isScheme(_ scheme: Substring) -> Bool {
        guard let first = scheme.utf8.first, isAlphanumeric(first), !(0x30...0x39).contains(first)
        else { return false }
        return scheme.utf8.allSatisfy { isAlphanumeric($0) || "+-.".utf8.contains($0) }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
    }
}
