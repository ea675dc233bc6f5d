// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography

/// A person who can log in at the development provider.
package struct DevelopmentUser: Sendable {
    /// The name for the login page, and `sub`.
    package let name: String
    package let password: Secret
    /// The claim `name`.
    package let fullName: String
    /// The claim `email`.
    package let email: String

    package init(name: String, password: Secret, fullName: String, email: String) {
        self.name = name
        self.password = password
        self.fullName = fullName
        self.email = email
    }

    /// The user that the login page names, so that anybody can try it.
    package static let alice = DevelopmentUser(
        name: "alice", password: Secret("wonderland"), fullName: "Alice Liddell", email: "alice@example.com")
}
