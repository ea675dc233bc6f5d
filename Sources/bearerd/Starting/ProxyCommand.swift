// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPMessages
import BearerdSystem

/// `bearerd proxy UPSTREAM`: one route without a file.
struct ProxyCommand: Command {
    static let name = "proxy"
    static let summary = "serves one route without a configuration file"
    static let details = [
        "Programs send plain HTTP to the listener; it goes to UPSTREAM with a token. Without --login the program gets its "
            + "tokens by client_credentials, and nothing is kept; with it a person logs in, and the session is kept for "
            + "the same issuer and client. The page for that and for the state is on a free loopback port, which is printed.",
        "Example: bearerd proxy https://api.example.com --issuer https://sso.example.com/realms/demo --client-id app "
            + "--client-secret-file secret",
    ]
    static let operand: String? = "UPSTREAM"
    static let needsOperand = true
    static let options =
        StarterAnswer.allCases.filter { $0 != .upstream }.map(\.option) + [StarterConfiguration.login]
    static let commonOptions: [CommandOption] = [.help]

    private let starter: StarterConfiguration

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        guard !arguments.has(.config) else {
            throw CommandFailure(.usage, "it serves without a file; 'bearerd run -c FILE' serves by one")
        }
        var starter = StarterConfiguration(arguments)
        starter.answers[.upstream] = arguments.operand
        if let missing = starter.missing.first {
            throw CommandFailure(
                .usage, missing == .upstream ? "which API? name its URL" : starter.complaint(of: missing))
        }
        self.starter = starter
    }

    func run() throws(CommandFailure) -> ExitStatus {
        let (configuration, warnings) = try StarterConfiguration.read(
            starter.temporary, of: Self.name, operand: .upstream)
        return try DaemonProcess.serve(
            configuration, warnings: warnings,
            named: { $0 == StarterAnswer.listen.key ? StarterConfiguration.subject(of: $0, .upstream) : $0 },
            whenBound: { sockets throws(CommandFailure) in
                try Console.show(instructions(configuration, sockets))
            })
    }

    private func instructions(_ configuration: Configuration, _ sockets: DaemonSockets) -> String {
        let addresses = sockets.data.map { address in
            if case .tcp = address.listener.address {
                "http://\(address.listener.address)"
            } else {
                "\(address.listener.address)"
            }
        }
        var lines = [
            "\(addresses.joined(separator: ", ")) forwards to \(starter.answers[.upstream] ?? ""); Ctrl-C ends it."
        ]
        if let admin = sockets.admin?.address {
            lines.append("  the status page: http://\(admin)/")
            if let url = configuration.loginURL(of: configuration.identities.first?.name, at: admin) {
                lines.append("  who opens \(url) logs in; the session is kept")
            }
        }
        return lines.joined(separator: "\n") + "\n\n"
    }
}
