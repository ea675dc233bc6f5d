// SPDX-License-Identifier: Apache-2.0

package import JSON
package import OAuth

/// The JSON that tells which tokens were revoked.
package struct RevocationReport: Sendable {
    /// The tokens that there were, by kind.
    package let revoked: [TokenHint]

    private static let member = "revoked"

    package init(revoked: [TokenHint]) {
        self.revoked = revoked
    }

    /// Reads what ``json`` wrote.
    package init?(_ json: JSONValue) {
        guard let list = json[Self.member]?.array else { return nil }
        revoked = list.compactMap { $0.string.flatMap(TokenHint.init(rawValue:)) }
    }

    /// `{"revoked":["refresh_token"]}`.
    package var json: JSONValue {
        [Self.member: .array(revoked.map { .string($0.rawValue) })]
    }
}
