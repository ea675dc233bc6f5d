// SPDX-License-Identifier: Apache-2.0

/// What encrypts the connections of a listener.
package protocol ConnectionSecurity: Sendable {
    /// Wraps a socket that was just accepted; the result owns the descriptor.
    ///
    /// - Returns: nil if that is not possible; the caller then closes the descriptor.
    func wire(on descriptor: Int32) -> (any Wire)?

    /// Whether a connection that is there already would be taken if it were made now.
    func admits(_ wire: any Wire) -> Bool
}
