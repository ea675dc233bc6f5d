// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// Validates chunk extensions, which only request smugglers use (RFC 9112 §7.1.1): `*( BWS ";" BWS name [ BWS
/// "=" BWS ( token / quoted-string ) ] )`.
struct ChunkExtensions: Sendable {
    /// The part of the grammar that comes next.
    private enum State: Sendable {
        /// White space before a `;`.
        case beforeSemicolon
        /// White space or a name.
        case beforeName
        case name
        /// White space after a name.
        case afterName
        /// White space or a value.
        case beforeValue
        case token
        case quoted
        /// A byte after a backslash.
        case escaped
        /// After a value: white space, `;` or the line's end.
        case afterValue
    }

    private var state = State.beforeSemicolon

    /// Takes the next byte.
    ///
    /// - Returns: true for the CR that ends the line.
    mutating func take(_ byte: UInt8) throws(HTTPParseError) -> Bool {
        guard byte != Byte.lineFeed else { throw .bareLineFeed }
        if byte == Byte.carriageReturn {
            guard mayEnd else { throw .malformedChunkExtension }
            return true
        }
        guard let next = state(after: byte) else { throw .malformedChunkExtension }
        state = next
        return false
    }

    private var mayEnd: Bool {
        switch state {
        case .name, .token, .afterValue: true
        case .beforeSemicolon, .beforeName, .afterName, .beforeValue, .quoted, .escaped: false
        }
    }

    private func state(after byte: UInt8) -> State? {
        let isBlank = byte.isOptionalWhitespace
        switch state {
        case .beforeSemicolon: return isBlank ? .beforeSemicolon : byte == Byte.semicolon ? .beforeName : nil
        case .beforeName: return isBlank ? .beforeName : byte.isTokenCharacter ? .name : nil
        case .name where byte.isTokenCharacter: return .name
        case .name, .afterName:
            if isBlank { return .afterName }
            return byte == Byte.equals ? .beforeValue : byte == Byte.semicolon ? .beforeName : nil
        case .beforeValue:
            if isBlank { return .beforeValue }
            return byte == Byte.quote ? .quoted : byte.isTokenCharacter ? .token : nil
        case .token where byte.isTokenCharacter: return .token
        case .token, .afterValue:
            return isBlank ? .afterValue : byte == Byte.semicolon ? .beforeName : nil
        case .quoted:
            if byte == Byte.quote { return .afterValue }
            return byte == Byte.backslash ? .escaped : byte.isFieldContent ? .quoted : nil
        case .escaped: return byte.isFieldContent ? .quoted : nil
        }
    }
}
