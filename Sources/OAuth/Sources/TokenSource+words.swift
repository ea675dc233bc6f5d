// SPDX-License-Identifier: Apache-2.0

/// What messages for people call a source.
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

    /// What the party does if its answer cannot be used before something is changed.
    package var refusal: String {
        switch self {
        case .fixed, .basic, .command: "gives nothing that can be used"
        case .googleMetadata, .azureIdentity, .gitHubApp: "refuses this configuration"
        }
    }
}
