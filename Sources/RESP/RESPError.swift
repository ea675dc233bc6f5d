// SPDX-License-Identifier: Apache-2.0

/// Why bytes are no answer of a Redis server, or none that anybody here has asked for.
package enum RESPError: Error, Equatable, Sendable {
    /// It does not begin as a value of version 2 does.
    case unknownKind
    /// A length, a number or a line's end is not what it must be.
    case malformed
    /// A line, a string or an array is longer than any that is asked for.
    case tooLong
    /// Arrays in arrays, deeper than any that is asked for.
    case tooDeep
}
