// SPDX-License-Identifier: Apache-2.0

import OAuthRuntime

extension LoginPage {
    /// The page of a login whose code waits in the store.
    static let noted = LoginPage(
        title: "Nearly there", text: "This window can be closed; 'bearerd exchange' finishes the login.")
}
