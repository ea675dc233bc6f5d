// SPDX-License-Identifier: Apache-2.0

package import BearerdJSON
package import OAuth

/// The result of a revocation as JSON.
package struct RevocationReport: Sendable {
    /// The kinds of tokens that were revoked.
    package let revoked: [TokenHint]

    package init(revoked: [TokenHint]) { self.revoked = revoked }

    package init?(_ json: JSONValue) {
        guard let list = json[.revoked]?.array else { return nil }
        revoked = list.compactMap { $0.string.flatMap(TokenHint.init(rawValue:)) }
    }

    /// `{"revoked":["refresh_token"]}`.
    package var json: JSONValue { JSONValue(admin: [.revoked: .array(revoked.map { .string($0.rawValue) })]) }
}
