// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPMessages
import BearerdJSON
import BearerdJSONText
import OAuth
import OAuthRuntime

/// `bearerd discover`: prints a provider's metadata; needs no configuration.
struct DiscoverCommand: Command {
    static let name = "discover"
    static let summary = "prints a provider's metadata as JSON"
    static let operand: String? = "ISSUER"
    static let needsOperand = true

    private let issuer: String
    private let url: HTTPURL
    /// The configuration, whose identity of this issuer has the CAs and the proxy to use; nil if none is
    /// given.
    private let file: ConfigurationFile?

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        guard let issuer = arguments.operand else {
            throw CommandFailure(.usage, "whose metadata? name the ISSUER, a URL")
        }
        guard let url = HTTPURL(issuer), url.query == nil else {
            throw CommandFailure(.usage, "'\(issuer)' is no issuer: an https URL without query and fragment")
        }
        self.issuer = issuer
        self.url = url
        file = arguments.has(.config) ? try ConfigurationFile(arguments) : nil
    }

    func run() throws(CommandFailure) -> ExitStatus {
        let identity = try file?.load().configuration.identities.first {
            issuer.hasSameBytes(as: $0.client.issuer)
        }
        let document = try CommandLoop.run { loop throws(CommandFailure) in
            try await discover(as: identity, loop).document
        }
        try Console.show(String(decoding: document.serialized(pretty: true), as: UTF8.self))
        return .success
    }

    private func discover(
        as identity: IdentityConfiguration?, _ loop: EventLoop
    ) async throws(CommandFailure) -> ServiceConfiguration {
        var client =
            identity?.client ?? ClientConfiguration(name: issuer, clientID: "", grantType: .clientCredentials)
        client.issuer = issuer
        client.isOfFile = true
        let transport: ProviderTransport
        do {
            try HTTPClientLibrary.initialize()
            let trust = TrustStores()
            let way =
                if let identity {
                    try identity.transport.transport(encrypted: true, trust: trust)
                } else {
                    Transport(trust: url.scheme == .https ? try trust.store(caFile: nil) : nil)
                }
            transport = ProviderTransport(client: TransferClient(loop: loop), transport: way)
        } catch {
            throw CommandFailure(error)
        }
        do throws(TokenFailure) {
            return try await ServiceConfiguration.discover(for: client, over: transport)
        } catch {
            throw CommandFailure(.unavailable, error.sentence)
        }
    }
}
