// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdJSON
import BearerdSystem

/// The smallest configuration with an identity: one route to one API, by one client.
struct StarterConfiguration {
    /// Says that a person logs in.
    static let login = CommandOption(
        "login", "for a person who logs in; else the program gets a token itself")

    /// The address without an answer.
    private static let standardListen = "127.0.0.1:8080"

    /// The identity in a file.
    static let identity = "default"

    /// The directory for sessions beside the file, where the usual one has a session of that identity already; nil for
    /// the usual one.
    var storeDirectory: String?
    var answers: [StarterAnswer: String]
    var isForPerson: Bool

    /// Takes what the command line says.
    init(_ arguments: ParsedArguments) {
        answers = StarterAnswer.allCases.reduce(into: [:]) { answers, answer in
            answers[answer] = arguments.value(answer.option)
        }
        isForPerson = arguments.has(Self.login)
    }

    /// The required answers that are missing; a preset may know the issuer, and a person needs no secret.
    var missing: [StarterAnswer] {
        [.upstream, .issuer, .clientID, .clientSecretFile].filter { answer in
            guard answers[answer] == nil else { return false }
            return switch answer {
            case .issuer: answers[.preset] == nil
            case .clientSecretFile: !isForPerson
            default: true
            }
        }
    }

    /// The words for an answer that is missing.
    func complaint(of answer: StarterAnswer) -> String {
        let reason =
            answer == .clientSecretFile
            ? ": a program proves by a secret who it is (RFC 6749 4.4); --login is for a person who logs in"
            : ""
        return "--\(answer.rawValue) is missing\(reason)"
    }

    /// A name that is the same for the same client of the same issuer, and for no other.
    var sessionName: String {
        let key = "\(answers[.issuer] ?? answers[.preset] ?? "")\n\(answers[.clientID] ?? "")"
        let digest = SHA256.digest(Array(key.utf8)).prefix(8).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return "proxy-\(digest.joined())"
    }

    /// A file to keep and to change, each line with its reason.
    var file: String {
        let grant =
            isForPerson
            ? "a person logs in: 'bearerd login', or the status page"
            : "the program gets its tokens itself"
        let heading = """
            # Written by 'bearerd init'. 'bearerd check' judges it, 'bearerd run' serves it, 'bearerd reload' takes changes over;
            # all keys are in docs/configuration.md. Sessions are in \(storeDirectory == nil ? "the state directory of the service or user that runs it (store.directory)" : "a directory of their own").

            """
        return heading
            + text(
                [
                    (0, "listen", answers[.listen] ?? Self.standardListen, "where programs send plain HTTP"),
                    (0, "admin", nil, ""),
                    (2, "listen", "127.0.0.1:9090", "status page, health, metrics, login"),
                    (0, "identities", nil, ""), (2, Self.identity, nil, ""),
                ] + identity(grant) + routes(of: Self.identity) + ownStore)
    }

    /// A text for this process alone: without sessions of a person it leaves nothing behind.
    var temporary: String {
        let name = isForPerson ? sessionName : "default"
        return text(
            [
                (0, "listen", answers[.listen] ?? Self.standardListen, ""),
                (0, "admin", nil, ""), (2, "listen", "127.0.0.1:0", ""),
                (0, "identities", nil, ""), (2, name, nil, ""),
            ] + identity("") + routes(of: name)
                + (isForPerson ? [] : [(0, "store", nil, ""), (2, "type", "memory", "")]))
    }

    private typealias Line = (indent: Int, key: String, value: String?, comment: String)

    private func identity(_ grantComment: String) -> [Line] {
        let comments: [StarterAnswer: String] = [
            .issuer: "the provider, exactly as it calls itself", .clientID: "as registered there",
            .clientSecretFile: "0600; read again when it changes",
        ]
        func lines(_ answers: [StarterAnswer]) -> [Line] {
            answers.compactMap { answer in
                self.answers[answer].map {
                    (4, answer.key, $0, grantComment.isEmpty ? "" : comments[answer] ?? "")
                }
            }
        }
        let grant = isForPerson ? "authorization_code" : "client_credentials"
        return lines([.preset, .issuer, .clientID, .clientSecretFile]) + [
            (4, "grant_type", grant, grantComment)
        ]
            + lines([.scope, .audience, .redirectURI])
    }

    private var ownStore: [Line] {
        storeDirectory.map {
            [(0, "store", nil, ""), (2, "directory", $0, "the usual one has another session")]
        } ?? []
    }

    private func routes(of identity: String) -> [Line] {
        [
            (0, "routes", nil, ""), (2, "- path", "/", ""), (4, "upstream", answers[.upstream] ?? "", ""),
            (4, "identity", identity, ""),
        ]
    }

    private func text(_ lines: [Line]) -> String {
        lines.map { line in
            let entry =
                String(repeating: " ", count: line.indent) + "\(line.key):"
                + (line.value.map { " \(Self.scalar($0))" } ?? "")
            guard !line.comment.isEmpty else { return "\(entry)\n" }
            return entry + String(repeating: " ", count: max(2, 48 - entry.count)) + "# \(line.comment)\n"
        }.joined()
    }

    /// A value as YAML reads it back, whatever is in it.
    private static func scalar(_ text: String) -> String {
        let isWord = text.utf8.allSatisfy { byte in
            byte.isLetterOrDigit || "._~:/@+-".utf8.contains(byte)
        }
        let begins = text.utf8.first.map { $0.isLetterOrDigit || $0 == UInt8(ascii: "/") } ?? false
        // A text that begins with a digit and has a dot and a colon is an address, and no number.
        let isNumber =
            text.utf8.first.map { (0x30...0x39).contains($0) } ?? false
            && !(text.contains(".") && text.contains(":"))
        let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        if isWord, begins, !isNumber, !text.hasSuffix(":"), !words.contains(text.lowercased()) { return text }
        return String(
            decoding: JSONValue.string(text.replacing("${", with: "$${")).serialized(), as: UTF8.self)
    }

    /// The configuration that a text comes to.
    ///
    /// - Throws: a failure of configuration whose lines name the options, or the operand, with an error.
    static func read(
        _ text: String, of command: String, operand: StarterAnswer?
    ) throws(CommandFailure) -> (
        configuration: Configuration, warnings: [String]
    ) {
        let report = ConfigurationReport(
            Array(text.utf8), file: command, environment: CurrentProcess.environment)
        func line(_ problem: ConfigurationProblem) -> String {
            "\(subject(of: problem.path, operand)): \(problem.reason)"
        }
        guard let configuration = report.configuration else {
            let errors = report.problems.filter { $0.severity == .error }
            for problem in errors.dropLast() { Console.complain("\(command): \(line(problem))") }
            throw CommandFailure(.configuration, errors.last.map(line) ?? "the options make no configuration")
        }
        return (configuration, report.problems.map(line))
    }

    /// The word of the command line that a key of the configuration stands for, else the key.
    static func subject(of path: String, _ operand: StarterAnswer?) -> String {
        guard let answer = StarterAnswer(path: path) else { return path }
        return answer == operand ? answer.rawValue.uppercased() : "--\(answer.rawValue)"
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
    }
}
