// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import bearerd

@Suite struct `The arguments of a command` {
    private let config = CommandOption.config
    private let json = CommandOption("json", "as JSON")

    @Test(arguments: [["--config", "a"], ["--config=a"], ["-c", "a"], ["-c", "b", "--config=a"]])
    func `a value stands behind its option or after an equals sign, and the last one counts`(
        words: [String]
    ) throws {
        #expect(try parse(words).value(config) == "a")
    }

    @Test func `a value may be empty, hold an equals sign, or look like an option`() throws {
        #expect(try parse(["--config="]).value(config) == "")
        #expect(try parse(["--config=a=b"]).value(config) == "a=b")
        #expect(try parse(["--config", "--json"]).value(config) == "--json")
        #expect(try !parse(["--config", "--json"]).has(json))
    }

    @Test func `options and the operand come in any order`() throws {
        let arguments = try parse(["name", "--json", "-c", "a"])
        #expect(arguments.operand == "name")
        #expect(arguments.has(json))
        #expect(arguments.value(config) == "a")
    }

    @Test func `after two dashes nothing is an option`() throws {
        let arguments = try parse(["--", "--json"])
        #expect(arguments.operand == "--json")
        #expect(!arguments.has(json))
    }

    @Test(arguments: [
        (["--jsn"], "unknown option '--jsn'; did you mean '--json'?"),
        (["-x"], "unknown option '-x'"),
        (["-json"], "unknown option '-json'; did you mean '--json'?"),
        (["--json=yes"], "'--json' takes no value"),
        (["--config"], "'--config' needs a value: FILE"),
        (["a", "b"], "unexpected argument 'b'"),
    ])
    func `a word that does not fit is named`(words: [String], message: String) throws {
        let failure = #expect(throws: CommandFailure.self) { try parse(words) }
        #expect(failure?.status == .usage)
        #expect(failure?.message == message)
    }

    @Test func `a command without an operand takes none`() {
        let failure = #expect(throws: CommandFailure.self) {
            try ParsedArguments(["name"], options: [], operand: nil, catalog: CommandCatalog([]))
        }
        #expect(failure?.message == "unexpected argument 'name'")
    }

    private func parse(_ words: [String]) throws -> ParsedArguments {
        try ParsedArguments(words, options: [config, json], operand: "IDENTITY", catalog: CommandCatalog([]))
    }
}
