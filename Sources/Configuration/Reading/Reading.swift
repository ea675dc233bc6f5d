// SPDX-License-Identifier: Apache-2.0

internal import YAML

/// The reading of one file: what it may look at, and the problems found so far.
///
/// A class, because every section adds its problems to the same list; it lives for one call.
final class Reading {
    /// The variables that `${NAME}` stands for.
    let environment: (String) -> String?
    /// What relative paths are relative to; nil for a text that is in no file.
    let directory: String?
    /// Where the file itself holds a secret, in its order.
    private(set) var secretPlaces: [Place] = []
    /// Where every key and item of a list that the file has stands, by its path.
    private(set) var marks: [String: Mark] = [:]
    private var problems: Set<ConfigurationProblem> = []
    /// The paths of keys whose value was reported as wrong, wholly or in an item of its list.
    private var faultyPaths: Set<String> = []

    init(environment: @escaping (String) -> String?, directory: String? = nil) {
        self.environment = environment
        self.directory = directory
    }

    /// Whether there is a problem that makes the file unusable.
    var hasErrors: Bool { problems.contains { $0.severity == .error } }

    /// The problems in the order of the file, each once: a value shared by an alias is read more than once.
    var sortedProblems: [ConfigurationProblem] {
        problems.sorted { ($0.mark, $0.path, $0.reason) < ($1.mark, $1.path, $1.reason) }
    }

    func error(_ reason: String, at place: Place, isDenial: Bool = false) {
        report(.error, reason, at: place, isDenial: isDenial)
        var path = Substring(place.path)
        faultyPaths.insert(place.path)
        while path.last == "]", let bracket = path.lastIndex(of: "[") {
            path = path[..<bracket]
            faultyPaths.insert(String(path))
        }
    }

    /// Whether an error with the value of the key at `path` was reported.
    func isFaulty(_ path: String) -> Bool { faultyPaths.contains(path) }

    /// Notes that the file itself holds a secret.
    func holdsSecret(at place: Place) { secretPlaces.append(place) }

    /// Notes where the file has a key, and the items of the list that is its value.
    func stands(_ node: YAMLNode, at key: Place) {
        let place = place(key, of: node)
        marks[place.path] = place.mark
        guard case .sequence(let items) = node.content else { return }
        for (index, item) in items.enumerated() { marks[place.item(index, at: item.mark).path] = item.mark }
    }

    /// A path as it is used: a relative one is in the directory of the file.
    func resolved(_ path: String) -> String {
        guard let directory, !path.hasPrefix("/") else { return path }
        var rest = Substring(path)
        while rest.hasPrefix("./") { rest = rest.dropFirst(2) }
        let name = rest.isEmpty || rest == "." ? "" : "/\(rest)"
        return directory == "/" && !name.isEmpty ? name : directory + name
    }

    func warn(_ reason: String, at place: Place, isAboutModes: Bool = false) {
        report(.warning, reason, at: place, isAboutModes: isAboutModes)
    }

    private func report(
        _ severity: ConfigurationProblem.Severity, _ reason: String, at place: Place,
        isAboutModes: Bool = false, isDenial: Bool = false
    ) {
        problems.insert(
            ConfigurationProblem(
                severity: severity, mark: place.mark, path: place.path, reason: reason,
                isAboutModes: isAboutModes, isDenial: isDenial))
    }
}
