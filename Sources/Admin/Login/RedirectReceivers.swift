// SPDX-License-Identifier: Apache-2.0

package import OAuth

/// Receives redirects of logins that do not arrive at the admin listener.
///
/// That is so if `redirect_uri` has another port, or `redirect_listen` sets an address.
package protocol RedirectReceivers: Sendable {
    /// Starts to receive an identity's redirects, until ``close(for:)``.
    ///
    /// The configuration in force answers them, whichever began the login.
    ///
    /// - Throws: the reason why the address cannot be listened on.
    func open(for identity: String) async throws(LoginError)

    /// Frees the port, which a login command may need.
    func close(for identity: String) async
}
