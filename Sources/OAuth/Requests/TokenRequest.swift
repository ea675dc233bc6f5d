// SPDX-License-Identifier: Apache-2.0

public import Cryptography

/// A request to the token endpoint that a program writes itself: a grant of an extension (RFC 6749 §4.5), say.
///
/// Address, time limit, client and its proof of itself are the session's. ``AuthSession/perform(_:)`` only asks;
/// ``AuthSession/logIn(with:)-(TokenRequest)`` makes what comes back the session.
///
/// ```swift
/// var request = TokenRequest(grantType: GrantType(rawValue: "urn:example:grant-type:otp"))
/// request.parameters = [NamedValue("device", "blue")]
/// request.secrets = [("otp", Secret("271828"))]
/// try await session.logIn(with: request)
/// ```
public struct TokenRequest: Sendable {
    /// `grant_type`.
    public var grantType: GrantType
    /// Scope tokens (RFC 6749 §3.3); none are sent if it is empty.
    public var scope: [String] = []
    /// What else the grant needs, in the order it is sent.
    public var parameters: [NamedValue] = []
    /// What must not be printed, sent after ``parameters``.
    public var secrets: [(name: String, value: Secret)] = []
    /// Header fields; one of a name that is sent anyway takes its place.
    public var headers: [NamedValue] = []

    /// A request for a grant, without parameters.
    public init(grantType: GrantType) {
        self.grantType = grantType
    }
}

extension TokenRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says what it is, and nothing of what is in it.
    public var description: String { "[token request]" }
    /// Says no more than `description`.
    public var debugDescription: String { description }
    /// Shows nothing of what is in it.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
