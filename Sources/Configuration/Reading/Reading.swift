// SPDX-License-Identifier: Apache-2.0

internal import YAML

/// The reading of one file: what it may look at, and the problems found so far.
///
/// A class, because every section adds its problems to the same list; it lives for one call.
final class Reading {
    /// The variables that `${NAME}` stands for.
    let environment: (String) -> String?
    private var problems: Set<ConfigurationProblem> = []

    init(environment: @escaping (String) -> String?) {
        self.environment = environment
    }

    /// Whether there is a problem that makes the file unusable.
    var hasErrors: Bool { problems.contains { $0.severity == .error } }

    /// The problems in the order of the file, each once: a value shared by an alias is read more than once.
    var sortedProblems: [ConfigurationProblem] {
        problems.sorted { ($0.mark, $0.path, $0.reason) < ($1.mark, $1.path, $1.reason) }
    }

    func error(_ reason: String, at place: Place) {
        report(.error, reason, at: place)
    }

    func warn(_ reason: String, at place: Place) {
        report(.warning, reason, at: place)
    }

    private func report(_ severity: ConfigurationProblem.Severity, _ reason: String, at place: Place) {
        problems.insert(
            ConfigurationProblem(severity: severity, mark: place.mark, path: place.path, reason: reason))
    }
}
