// SPDX-License-Identifier: Apache-2.0

import Configuration
import Observability

/// `bearerd check`: judges the configuration without touching the network.
struct CheckCommand: Command {
    static let name = "check"
    static let summary = "validates the configuration offline and prints the route table"

    private let file: ConfigurationFile

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        file = try ConfigurationFile(arguments)
    }

    func run() throws(CommandFailure) -> ExitStatus {
        let (configuration, warnings) = try file.load()
        for warning in warnings { Console.remark(warning) }
        try Console.show("\(file.path.printable): ok\n\n\(ConfigurationSummary(configuration).text)")
        return .success
    }
}
