// SPDX-License-Identifier: Apache-2.0

internal import BearerdYAML
internal import OAuth

/// The keys that make sense with and without a `source`.
extension IdentityKey {
    /// The keys of every source.
    private static let common: Set<IdentityKey> = [.source, .refreshMargin, .onStateChange]

    /// The keys of one source alone, beside those of all.
    private static func own(_ source: TokenSource.Name) -> Set<IdentityKey> {
        switch source {
        case .fixed: [.token]
        case .basic: [.username, .password]
        case .googleMetadata: [.audience, .scope, .serviceAccount]
        case .azureIdentity: [.resource, .clientID]
        case .gitHubApp:
            [
                .appID, .installationID, .privateKeyFile, .api, .repositories, .permissions, .caFile, .proxy,
                .connectTo,
            ]
        case .command: [.command, .timeout]
        }
    }

    /// The keys that are of no use without a source.
    private static let onlyWithSource: Set<IdentityKey> = [
        .token, .serviceAccount, .appID, .installationID, .api, .repositories, .permissions, .command,
        .timeout,
    ]

    /// The keys that `source` stands in place of.
    private static let replaced: Set<IdentityKey> = [
        .issuer, .discoveryURL, .grantType, .preset, .authorizationEndpoint, .tokenEndpoint,
        .deviceAuthorizationEndpoint, .userinfoEndpoint, .revocationEndpoint, .endSessionEndpoint,
        .registrationEndpoint, .introspectionEndpoint, .pushedAuthorizationRequestEndpoint, .keysURI,
    ]

    /// The keys that make sense in an identity, by what it says of its source.
    static func usable(beside identity: YAMLNode) -> Section<IdentityKey>.Usable {
        guard let text = sourceName(in: identity) else {
            return .init(keys: Set(allCases).subtracting(onlyWithSource)) { key in
                "unknown key without source: it is of use with one alone"
            }
        }
        guard let source = TokenSource.Name(rawValue: text) else {
            // The value is an error of its own; nothing is said of the keys beside it.
            return .init(keys: Set(allCases)) { _ in "unknown key" }
        }
        return .init(keys: common.union(own(source))) { key in
            replaced.contains(key)
                ? "stands beside source, which takes its place: remove one of the two"
                : "unknown key with source: \(source.rawValue)"
        }
    }

    private static func sourceName(in identity: YAMLNode) -> String? {
        guard case .mapping(let mapping) = identity.content,
            let entry = mapping.entries.first(where: { $0.key == IdentityKey.source.rawValue }),
            case .scalar(let scalar) = entry.value.content
        else { return nil }
        return scalar.text
    }
}
