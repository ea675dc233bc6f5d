// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import Testing

@testable import bearerd

@Suite struct `The commands` {
    @Test(arguments: [
        (nil, "only", ["only"]), (nil, "default", ["other", "default"]),
        ("other", "other", ["other", "default"]),
    ])
    func `an identity is chosen by name, or when it goes without saying`(
        given: String?, chosen: String, names: [String]
    ) throws {
        #expect(try IdentityChoice.choose(given, in: try configuration(names)).name == chosen)
    }

    @Test(arguments: [
        (nil, ["a", "b"], "which identity? there are a, b"),
        ("defalut", ["default"], "there is no identity 'defalut'; did you mean 'default'?"),
    ])
    func `a choice that cannot be made is a failure of usage`(
        given: String?, names: [String], message: String
    ) throws {
        let configuration = try configuration(names)
        let failure = #expect(throws: CommandFailure.self) {
            try IdentityChoice.choose(given, in: configuration)
        }
        #expect(failure?.status == .usage)
        #expect(failure?.message == message)
    }

    @Test func `columns line up and no line ends in spaces`() {
        var table = TextTable(["A", "LONG", "C"])
        table.append(["wide cell", "x", ""])
        #expect(table.text == "A          LONG  C\nwide cell  x\n")
    }

    @Test func `what check prints holds the routes, the callouts and no secret`() throws {
        let summary = ConfigurationSummary(try configuration(["default"], development: true)).text
        #expect(summary.contains("/     any   any      any     default   https://api.example.com"))
        #expect(summary.contains("development.provider is on at 127.0.0.1:9001"))
        #expect(summary.contains("insecure_skip_verify"))
        #expect(!summary.contains("s3cret"))
    }

    @Test func `the help names every command and every option of each`() {
        let catalog = CommandCatalog([StatusCommand.self, TokenCommand.self])
        let overview = HelpText.overview(of: catalog)
        #expect(overview.contains("  token [IDENTITY]  prints a fresh access token alone\n"))
        #expect(HelpText.help(for: StatusCommand.self, of: catalog).contains("      --json         as JSON"))
        #expect(HelpText.help(for: StatusCommand.self, of: catalog).contains("  -c, --config FILE  "))
    }

    @Test func `the help of each command has examples that the command takes`() throws {
        for command in CommandCatalog.all.commands {
            let examples = CommandExample.of(command)
            #expect(!examples.isEmpty, "\(command.name)")
            let help = HelpText.help(for: command, of: .all)
            for example in examples {
                #expect(help.contains("\n  \(example.line)\n      \(example.purpose)\n"))
                for words in Self.calls(in: example.line) {
                    let called = try CommandCatalog.all.command(words[0])
                    _ = try ParsedArguments(
                        Array(words.dropFirst()), options: called.allOptions, operand: called.operand,
                        catalog: .all)
                }
            }
        }
    }

    /// The words after each `bearerd` of a shell's line, up to what the shell takes itself.
    private static func calls(in line: String) -> [[String]] {
        let words = line.replacing("$(", with: "").replacing("<(", with: "").replacing(")\"", with: "")
            .replacing(")", with: "").split(separator: " ").map(String.init)
        return words.indices.filter { words[$0] == "bearerd" || words[$0] == "\"bearerd" }
            .filter { $0 + 1 < words.count }.map { start in
                Array(
                    words[(start + 1)...].prefix {
                        !["&&", "|", ">"].contains($0) && (start == 0 || !$0.hasPrefix("http"))
                    })
            }
    }

    private func configuration(_ identities: [String], development: Bool = false) throws -> Configuration {
        var text = development ? "development: {provider: 127.0.0.1:9001}\n" : ""
        text += "identities:\n"
        for name in identities {
            text += """
                  \(name):
                    issuer: https://sso.example.com
                    client_id: app
                    client_secret: s3cret
                    grant_type: client_credentials
                    insecure_skip_verify: \(development)

                """
        }
        text += "routes: [{upstream: https://api.example.com, identity: \(identities[0])}]\n"
        let report = ConfigurationReport(Array(text.utf8), file: "c.yaml", environment: { _ in nil })
        return try #require(report.configuration, "\(report.lines)")
    }
}
