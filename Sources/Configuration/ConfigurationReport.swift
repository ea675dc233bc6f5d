// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem
internal import BearerdYAML

/// The result of reading a configuration file: the configuration if it can be used, and every problem of the file.
package struct ConfigurationReport: Sendable {
    /// The file's name as given, for messages.
    package let file: String
    /// The configuration; nil if there is an error among the problems.
    package let configuration: Configuration?
    /// Errors and warnings in the order of the file.
    package let problems: [ConfigurationProblem]
    /// The admin listener, which may be known although there is an error elsewhere.
    package let adminListener: AdminListener
    /// The places of all keys and items in the file, by their paths.
    private let marks: [String: Mark]

    /// Reads and checks a file, and the files it names; blocks while it does.
    ///
    ///   - Parameter environment: looks up a variable.
    package init(path: String, environment: @escaping (String) -> String?) {
        do throws(SystemError) {
            let (bytes, status) = try FileSystem.read(path, limit: YAMLLimits().bytes)
            // A pipe is in no directory, so its paths are relative to the working directory.
            let directory =
                status.kind == .regular ? Self.directory(of: path) : CurrentProcess.workingDirectory
            self.init(bytes, file: path, status, in: directory, environment: environment)
        } catch {
            let reason = error.reason(reading: path)
            self.init(file: path, mark: .start, failure: reason.words, isDenial: reason.isHidden)
        }
    }

    /// Checks the text of a file.
    package init(_ text: [UInt8], file: String, environment: @escaping (String) -> String?) {
        self.init(text, file: file, nil, in: nil, environment: environment)
    }

    private init(
        _ text: [UInt8], file: String, _ status: FileStatus?, in directory: String?,
        environment: @escaping (String) -> String?
    ) {
        do throws(YAMLError) {
            let reading = Reading(environment: environment, directory: directory)
            let node = try YAMLNode.parse(text)
            let root = Section<RootKey>(node, at: .root, reading: reading)
            let configuration = Configuration(reading: root)
            if let status { reading.judge(status) }
            self.init(
                file: file, configuration: reading.hasErrors ? nil : configuration,
                problems: reading.sortedProblems,
                adminListener: AdminListener(root: node, environment: environment, directory: directory),
                marks: reading.marks)
        } catch {
            self.init(
                file: file, mark: error.mark, failure: error.description,
                adminListener: AdminListener(broken: text, environment: environment, directory: directory))
        }
    }

    private static func directory(of path: String) -> String? {
        guard let slash = path.lastIndex(of: "/") else { return CurrentProcess.workingDirectory }
        let directory = slash == path.startIndex ? "/" : String(path[..<slash])
        guard !directory.hasPrefix("/") else { return directory }
        return CurrentProcess.workingDirectory.map { working in
            Reading(environment: { _ in nil }, directory: working).resolved(directory)
        }
    }

    private init(
        file: String, mark: Mark, failure: String, isDenial: Bool = false,
        adminListener: AdminListener = .unreadable
    ) {
        var problem = ConfigurationProblem(severity: .error, mark: mark, path: "", reason: failure)
        problem.isDenial = isDenial
        self.init(file: file, configuration: nil, problems: [problem], adminListener: adminListener)
    }

    private init(
        file: String, configuration: Configuration?, problems: [ConfigurationProblem],
        adminListener: AdminListener, marks: [String: Mark] = [:]
    ) {
        self.adminListener = adminListener
        self.marks = marks
        self.file = file
        self.configuration = configuration
        self.problems = problems
    }

    /// The place of the first of these keys that the file has; otherwise of the innermost section around the last
    /// one.
    ///
    /// - Parameter keys: paths, as in `listen[1]`: the possible spellings of one value.
    /// - Returns: the key that was found, or the last one, with its place.
    package func place(of keys: String...) -> ConfigurationPlace {
        for key in keys {
            if let mark = marks[key] { return ConfigurationPlace(key: key, mark) }
        }
        let key = keys.last ?? ""
        var around = key[...]
        while let end = around.lastIndex(where: { $0 == "." || $0 == "[" }) {
            around = around[..<end]
            if let mark = marks[String(around)] { return ConfigurationPlace(key: key, mark) }
        }
        return ConfigurationPlace(key: key, .start)
    }

    /// The place of a secret, in whichever form the file has it.
    package func place(ofSecret key: String) -> ConfigurationPlace {
        let forms = SecretForm.allCases.map { key + $0.rawValue }
        let form = forms.first { marks[$0] != nil }
        return place(of: form ?? key)
    }

    /// The admin listener, wherever else the file has errors; nil where there is none, or nobody knows where.
    package var admin: AdminConfiguration? {
        if case .configured(let admin) = adminListener { admin } else { nil }
    }

    /// The most problems of one severity that are told one by one.
    private static let mostTold = 100

    /// The problems as they are told: of very many of one severity the first, and then the number of the others.
    package var told: [ConfigurationProblem] {
        let counts = Dictionary(grouping: problems, by: \.severity).mapValues(\.count)
        var seen: [ConfigurationProblem.Severity: Int] = [:]
        return problems.compactMap { problem in
            let severity = problem.severity
            seen[severity, default: 0] += 1
            let more = counts[severity, default: 0] - Self.mostTold
            switch seen[severity, default: 0] - Self.mostTold {
            case ...0: return problem
            case 1:
                return ConfigurationProblem(
                    severity: severity, mark: problem.mark, path: "",
                    reason: "and \(more) more of severity \(severity.rawValue) from here on")
            default: return nil
            }
        }
    }

    /// One line for each problem that is told: `FILE:LINE:COLUMN: error: …`.
    package var lines: [String] { told.map { $0.line(in: file) } }
    /// Those of ``lines`` that tell errors.
    package var errorLines: [String] { told.filter { $0.severity == .error }.map { $0.line(in: file) } }
}

extension Reading {
    /// Reports a mode or owner of the file itself that lets others change it or read a secret in it.
    fileprivate func judge(_ status: FileStatus) {
        let mode = String(status.mode, radix: 8)
        if status.isWritableByOthers {
            error("the file may be written by others (mode \(mode)); chmod go-w it", at: .root)
        }
        if let problem = status.ownerProblem {
            if problem.isError {
                error("the file \(problem.reason)", at: .root)
            } else {
                warn("the file \(problem.reason)", at: .root, isAboutModes: true)
            }
        }
        guard status.isReadableByAll, let place = secretPlaces.min(by: { $0.mark < $1.mark }) else { return }
        warn(
            "the file may be read by everybody (mode \(mode)) and holds a secret; chmod o-r it, or keep secrets in files",
            at: place, isAboutModes: true)
    }
}
