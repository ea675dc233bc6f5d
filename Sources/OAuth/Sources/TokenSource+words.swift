// SPDX-License-Identifier: Apache-2.0

/// The names of a source in messages for people.
extension TokenSource.Name {
    /// The party that gives the tokens, as it begins a sentence.
    package var party: String {
        switch self {
        case .fixed: "The token's file"
        case .basic: "The password's file"
        case .googleMetadata: "Google's metadata server"
        case .azureIdentity: "Azure's metadata server"
        case .gitHubApp: "GitHub"
        case .command: "The command"
        }
    }

    /// The verb for an answer that cannot be used before something is changed.
    package var refusal: String {
        switch self {
        case .fixed, .basic, .command: "gives nothing that can be used"
        case .googleMetadata, .azureIdentity, .gitHubApp: "refuses this configuration"
        }
    }
}
