// SPDX-License-Identifier: Apache-2.0

/// `bearerd demo`.
struct DemoCommand: Command {
    static let name = "demo"
    static let summary = "tries it all on loopback: a provider, an API, the proxy; needs nothing"

    init(_ arguments: ParsedArguments) throws(CommandFailure) {}

    func run() throws(CommandFailure) -> ExitStatus {
        throw CommandFailure(.unavailable, "not supported yet")
    }
}
