// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdJSON

/// `bearerd schema`: the keys of the configuration, for editors and for checks without bearerd.
struct SchemaCommand: Command {
    static let name = "schema"
    static let summary = "prints the JSON Schema of the configuration"
    static let details = [
        "An editor with a YAML language server completes keys by it and marks those that are unknown, if the file's first "
            + "line is '# yaml-language-server: $schema=bearerd.schema.json', a path relative to the file. What only bearerd "
            + "can judge, such as keys that contradict each other, 'bearerd check' tells.",
        "It is made of the keys that the reader itself asks for, and needs no configuration.",
    ]
    static let commonOptions = [CommandOption.help]

    init(_: ParsedArguments) throws(CommandFailure) {}

    func run() throws(CommandFailure) -> ExitStatus {
        let schema = ConfigurationSchema.json(version: Version.text)
        try Console.show(String(decoding: schema.serialized(pretty: true), as: UTF8.self))
        return .success
    }
}
