// SPDX-License-Identifier: Apache-2.0

package import OAuth

/// Receives redirects of logins that do not arrive at the admin listener.
///
/// That is so if `redirect_uri` has another port, or `redirect_listen` sets an address.
package protocol RedirectReceivers: Sendable {
    /// Starts to receive an identity's redirects, until ``close(for:unless:)``.
    ///
    /// The configuration in force answers them, whichever began the login.
    ///
    /// - Throws: the reason why the address cannot be listened on.
    func open(for identity: String) async throws(LoginError)

    /// Frees the port, which a login command may need.
    ///
    /// - Parameter isAwaited: returns true if a login waits for the redirect; asked at the last moment, because one may begin
    ///   at any time.
    func close(for identity: String, unless isAwaited: @Sendable () -> Bool) async
}
