// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPServer
package import OAuth

/// Takes the redirects of logins that do not arrive at the admin listener: `redirect_uri` has another port, or
/// `redirect_listen` says where.
package protocol RedirectDoors: Sendable {
    /// Awaits them from here on, until ``close(for:)``.
    ///
    /// - Parameters:
    ///   - identity: whose logins.
    ///   - responder: answers them.
    /// - Throws: why they cannot be awaited.
    func open(for identity: String, answering responder: any HTTPResponder) async throws(LoginError)

    /// Gives the port back, which the command may want.
    func close(for identity: String) async
}
