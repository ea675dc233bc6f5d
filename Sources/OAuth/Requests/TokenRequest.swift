// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography

/// A request to the token endpoint that a program composes, such as one with an extension grant (RFC 6749 §4.5).
///
/// Endpoint, time limit and client authentication are the session's. ``AuthSession/perform(_:)`` only asks;
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
    /// Further parameters, in the order in which they are sent.
    public var parameters: [NamedValue] = []
    /// Secret parameters, which are never printed; sent after ``parameters``.
    public var secrets: [(name: String, value: Secret)] = []
    /// Header fields, in place of those of the same names.
    public var headers: [NamedValue] = []

    /// A request for a grant, without parameters.
    public init(grantType: GrantType) {
        self.grantType = grantType
    }
}

extension TokenRequest: Redacted {
    /// A fixed text, which shows nothing of the contents.
    public var description: String { "[token request]" }
}
