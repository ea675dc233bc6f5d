// SPDX-License-Identifier: Apache-2.0

/// A parameter with which a configuration asks how a person proves who they are (OpenID Connect Core §3.1.2.1).
enum RequestedAuthentication: String {
    /// How many seconds ago at most.
    case maximumAge = "max_age"
    /// The contexts that will do, the best first.
    case contexts = "acr_values"
}
