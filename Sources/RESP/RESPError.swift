// SPDX-License-Identifier: Apache-2.0

/// A reply that is not valid RESP, or larger than any that is expected.
package enum RESPError: Error, Equatable, Sendable {
    /// The first byte is no type of RESP version 2.
    case unknownKind
    /// A length, a number or a line end is malformed.
    case malformed
    /// A line, string or array is longer than any that is expected.
    case tooLong
    /// Arrays are nested deeper than any that is expected.
    case tooDeep
}
