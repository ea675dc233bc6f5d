// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not taken as a property list.
package enum PropertyListError: Error, Equatable, Sendable {
    /// They are none, or a damaged one.
    case malformed
    /// More values, or deeper ones, than anything of use here has.
    case tooComplex
}
