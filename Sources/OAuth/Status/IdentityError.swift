// SPDX-License-Identifier: Apache-2.0

/// The last failure of an identity, as shown to people.
public struct IdentityError: Equatable, Sendable {
    /// A short word: the wire's `error` if that was given and printable, else one of ours like `unreachable`.
    public var code: String
    /// What happened, where, and what to look at; the provider's own words are in quotes.
    public var detail: String
    /// nil where it was not recorded.
    public var at: WallTime?
    /// Whether the store is at fault, and neither the provider nor the configuration.
    public var isAboutStore = false
    /// What the store said, where this process heard it.
    package var storeError: StoreError?

    /// The ``code`` where all is well, and another scope is configured than the login asked for.
    package static let scopeChanged = "scope_changed"

    /// An error as somebody else told it.
    package init(code: String, detail: String, at: WallTime? = nil, isAboutStore: Bool = false) {
        self.code = code
        self.detail = detail
        self.at = at
        self.isAboutStore = isAboutStore
    }
}
