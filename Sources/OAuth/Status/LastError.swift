// SPDX-License-Identifier: Apache-2.0

/// The last failure of an identity, as shown to people.
public struct LastError: Equatable, Sendable, CustomStringConvertible {
    /// The `error` of the server's response if it may be shown, else a word of this library, like `unreachable`.
    public var code: String
    /// A sentence about the cause, the endpoint and the remedy, with the authorization server's words in quotes.
    public var detail: String
    /// nil if the time was not recorded.
    public var at: WallTime?
    /// True if the store failed, rather than the authorization server or the configuration.
    public var isAboutStore = false
    /// The store's error, if this process received it.
    package var storeError: StoreError?

    /// The ``code`` of a working identity whose configured scope is not the one that the login asked for.
    package static let scopeChanged = "scope_changed"
    /// The ``code`` of a working identity whose login brought no refresh token, though its token ends.
    package static let noRefreshToken = "no_refresh_token"

    /// False for what a person is to know of a session that works.
    package var isFailure: Bool { code != Self.scopeChanged && code != Self.noRefreshToken }

    /// The ``sentence``, on one line.
    public var description: String { sentence.onOneLine }

    /// An error read from another process's answer.
    package init(code: String, detail: String, at: WallTime? = nil, isAboutStore: Bool = false) {
        self.code = code
        self.detail = detail
        self.at = at
        self.isAboutStore = isAboutStore
    }
}
