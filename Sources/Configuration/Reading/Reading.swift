// SPDX-License-Identifier: Apache-2.0

internal import BearerdYAML

/// The state of reading one file: what it may look up, and the problems so far.
///
/// A class, because every section adds to the same list of problems. It lives for one call.
final class Reading {
    /// Looks up the variable that `${NAME}` stands for.
    let environment: (String) -> String?
    /// The base of relative paths; nil for a text that is in no file.
    let directory: String?
    /// The places of secrets in the file itself, in its order.
    private(set) var secretPlaces: [Place] = []
    /// The place of every key and list item, by its path.
    private(set) var marks: [String: Mark] = [:]
    /// Notes what is asked for; nil while a file is read for its values.
    let record: KeyRecord?
    private var problems: Set<ConfigurationProblem> = []
    /// The paths of keys with an error in their value or in an item of it.
    private var faultyPaths: Set<String> = []

    /// How many unknown keys are still compared with those that there are; a file with very many was not written with these in
    /// mind.
    private var comparisonsLeft = 100

    init(
        environment: @escaping (String) -> String?, directory: String? = nil, record: KeyRecord? = nil
    ) {
        self.record = record
        self.environment = environment
        self.directory = directory
    }

    var hasErrors: Bool { problems.contains { $0.severity == .error } }

    /// The problems in the file's order, each once: a value shared by an alias is read more than once.
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

    /// Reports an unknown key.
    ///
    /// - Parameter spellings: of the keys that there are.
    /// - Returns: the one that was probably meant.
    func unknownKey(_ key: String, at place: Place, among spellings: [String]) -> String? {
        comparisonsLeft -= 1
        let meant = comparisonsLeft < 0 ? nil : NearMiss.best(for: key, among: spellings)
        error("unknown key\(NearMiss.hint(of: meant))", at: place)
        return meant
    }

    /// Returns true if an error was reported for the value at `path`.
    func isFaulty(_ path: String) -> Bool { faultyPaths.contains(path) }

    /// Notes that the file itself holds a secret.
    func holdsSecret(at place: Place) { secretPlaces.append(place) }

    /// Notes the place of a key and of the items of its list.
    func stands(_ node: YAMLNode, at key: Place) {
        let place = place(key, of: node)
        marks[place.path] = place.mark
        guard case .sequence(let items) = node.content else { return }
        for (index, item) in items.enumerated() { marks[place.item(index, at: item.mark).path] = item.mark }
    }

    /// The path to use: a relative one is in the file's directory.
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
