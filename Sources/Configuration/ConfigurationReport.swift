// SPDX-License-Identifier: Apache-2.0

internal import System
internal import YAML

/// What came of reading a configuration file: the configuration if it can be used, and all problems of the file.
package struct ConfigurationReport: Sendable {
    /// The file's name as it was given, for messages.
    package let file: String
    /// What the file says; nil if there is an error among the problems.
    package let configuration: Configuration?
    /// Errors and warnings in the order of the file.
    package let problems: [ConfigurationProblem]

    /// Reads and checks a file, and the files it names; blocks while it does.
    ///
    /// - Parameters:
    ///   - path: of the configuration file.
    ///   - environment: looks up a variable.
    package init(path: String, environment: @escaping (String) -> String?) {
        do throws(SystemError) {
            let bytes = try FileSystem.read(path, limit: YAMLLimits().bytes).bytes
            self.init(bytes, file: path, environment: environment)
        } catch {
            self.init(
                file: path, mark: .start, failure: "cannot be read: \(SystemError.text(of: error.code))")
        }
    }

    /// Checks the text of a file.
    ///
    /// - Parameters:
    ///   - text: of the file, in UTF-8.
    ///   - file: its name for messages.
    ///   - environment: looks up a variable.
    package init(_ text: [UInt8], file: String, environment: @escaping (String) -> String?) {
        do throws(YAMLError) {
            let reading = Reading(environment: environment)
            let root = Section<RootKey>(try YAMLNode.parse(text), at: .root, reading: reading)
            let configuration = Configuration(reading: root)
            self.init(
                file: file, configuration: reading.hasErrors ? nil : configuration,
                problems: reading.sortedProblems)
        } catch {
            self.init(file: file, mark: error.mark, failure: error.description)
        }
    }

    private init(file: String, mark: Mark, failure: String) {
        let problem = ConfigurationProblem(severity: .error, mark: mark, path: "", reason: failure)
        self.init(file: file, configuration: nil, problems: [problem])
    }

    private init(file: String, configuration: Configuration?, problems: [ConfigurationProblem]) {
        self.file = file
        self.configuration = configuration
        self.problems = problems
    }

    /// One line for each problem: `FILE:LINE:COLUMN: error: …`.
    package var lines: [String] { problems.map { $0.line(in: file) } }
}
