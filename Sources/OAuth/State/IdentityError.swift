// SPDX-License-Identifier: Apache-2.0

/// The last failure of an identity, as shown to people.
public struct IdentityError: Equatable, Sendable {
    /// A short word: the wire's `error` if that was given and printable, else one of ours like `unreachable`.
    public var code: String
    /// One sentence of ours, never a provider's words.
    public var detail: String
    /// nil where it was not recorded.
    public var at: WallTime?
}
