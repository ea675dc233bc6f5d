// SPDX-License-Identifier: Apache-2.0

/// The TLS settings of a listener.
package protocol ConnectionSecurity: Sendable {
    /// Wraps an accepted socket in TLS; the result owns the descriptor.
    ///
    /// - Returns: nil on failure; the caller then closes the descriptor.
    func wire(on descriptor: Int32) -> (any Wire)?

    /// Returns true if an existing connection would be accepted if it were made now.
    func admits(_ wire: any Wire) -> Bool
}
