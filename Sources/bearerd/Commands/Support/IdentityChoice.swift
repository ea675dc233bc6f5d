// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration

/// Chooses the identity of a command.
enum IdentityChoice {
    private static let standardName = "default"

    /// The identity with the given name; without a name the only identity, or the one called `default`.
    ///
    /// - Throws: a failure of usage if there is no such identity, or several to choose from.
    static func choose(
        _ name: String?, in configuration: Configuration
    ) throws(CommandFailure) -> IdentityConfiguration {
        let identities = configuration.identities
        let names = identities.map(\.name)
        guard let name else {
            if identities.count == 1, let only = identities.first { return only }
            if let standard = configuration.identity(named: standardName) { return standard }
            guard !identities.isEmpty else {
                throw CommandFailure(.usage, "the configuration has no identity")
            }
            throw CommandFailure(.usage, "which identity? there are \(names.joined(separator: ", "))")
        }
        guard let identity = configuration.identity(named: name) else {
            let hint = NearMiss.hint(for: name, among: names)
            let rest =
                name.hintOfConfiguration.map { ": \($0)" }
                ?? (hint.isEmpty ? ", there are \(names.joined(separator: ", "))" : hint)
            throw CommandFailure(
                .usage,
                names.isEmpty
                    ? "there is no identity '\(name)': the configuration has none"
                    : "there is no identity '\(name)'\(rest)")
        }
        return identity
    }
}
