// SPDX-License-Identifier: Apache-2.0

/// Why a text is not usable as JSON (RFC 8259).
///
/// No case carries a byte of the text: it may hold a token.
package enum JSONError: Error, Equatable, Sendable {
    /// Not JSON, or not UTF-8; `line` and `column` count from 1, `offset` is in bytes.
    case malformed(line: Int, column: Int, offset: Int)
    /// A real number beyond what a `Double` holds.
    case numberOutOfRange
    /// Arrays and objects nested deeper than ``JSONValue/maximumDepth``.
    case tooDeep
    /// Valid JSON whose top level is no object, where an object was asked for.
    case notAnObject
    /// jansson could not allocate.
    case outOfMemory
}
