// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdEventLoop
import BearerdHTTPClient
import OAuth

/// What doctor examines, and what it examines that with.
struct Patient: Sendable {
    let configuration: Configuration
    /// Of the configuration file.
    let report: ConfigurationReport
    let loop: EventLoop
    let client: TransferClient
    let trust: TrustStores
    let store: ExaminedStore
    /// What became of the token request of each identity that was asked for one.
    private let asked: [String: CommandFailure?]
    /// Whether tokens may be spent and tried (`--live`).
    let isLive: Bool
    /// Every one, with what has been seen of its provider.
    let identities: [ExaminedIdentity]

    init(
        _ configuration: Configuration, _ report: ConfigurationReport, asked: [String: CommandFailure?],
        isLive: Bool, loop: EventLoop
    ) throws(CommandFailure) {
        let trust = TrustStores()
        let client = TransferClient(loop: loop)
        var identities: [ExaminedIdentity] = []
        do {
            try HTTPClientLibrary.initialize()
            for identity in configuration.identities {
                let way = try identity.transport.transport(
                    encrypted: identity.client.mayUseTLS, trust: trust)
                identities.append(ExaminedIdentity(identity, over: way, client: client))
            }
        } catch {
            throw CommandFailure(error)
        }
        self.configuration = configuration
        self.report = report
        self.loop = loop
        self.client = client
        self.trust = trust
        store = ExaminedStore(configuration, loop: loop)
        self.asked = asked
        self.isLive = isLive
        self.identities = identities
    }

    /// What a request for a new token has brought; nil if none was made.
    func liveOutcome(of identity: ExaminedIdentity) async -> Result<Void, CommandFailure>? {
        guard let outcome = asked[identity.name] else { return nil }
        guard var failure = outcome else { return .success(()) }
        // Where the daemon has asked, its status tells why.
        if failure.code == nil {
            let status = await daemonStatus()?.identities.first { $0.name == identity.name }
            failure.code = status?.lastError.map(TroubleCode.init)
        }
        return .failure(failure)
    }

    /// Why nothing can be asked for in an identity's name, in words; nil where it can.
    func reasonNotToAsk(for identity: ExaminedIdentity) async -> String? {
        if identity.client.exchangesCallersTokens { return Self.withoutCaller }
        guard identity.client.source == nil else { return nil }
        return await lacksDaemon ? Self.withoutDaemon : nil
    }

    /// Whether nobody could be asked for a token: the store is in memory, and no daemon answers that has it.
    private var lacksDaemon: Bool {
        get async {
            guard !configuration.store.isShared else { return false }
            do throws(CommandFailure) {
                return try await AdminClient(configuration.admin, loop: loop)?.status() == nil
            } catch {
                return false
            }
        }
    }

    /// What is said where ``lacksDaemon``.
    private static let withoutDaemon =
        "the store is in memory, and no daemon answers at admin.listen: bearerd run begins one"

    /// What is said where only callers bring what there is to ask with.
    private static let withoutCaller =
        "each caller's token is exchanged when it comes (subject_token: from_request): without a caller there is nothing to ask with"

    /// The daemon's status; nil if there is no daemon that tells it.
    func daemonStatus() async -> StatusDocument? {
        do throws(CommandFailure) {
            return try await AdminClient(configuration.admin, loop: loop)?.status()
        } catch {
            return nil
        }
    }
}
