// SPDX-License-Identifier: Apache-2.0

package import Crypto

/// Where a client's credentials come from; asked at each use, so that a changed file counts at once.
package protocol CredentialSource: Sendable {
    /// The client secret, nil where none is configured.
    func clientSecret() async throws(CredentialError) -> Secret?
}
