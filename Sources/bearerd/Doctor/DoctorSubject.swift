// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdEventLoop
import BearerdHTTPClient
import OAuth

/// The subject of `doctor`, with the means to examine it.
struct DoctorSubject: Sendable {
    let configuration: Configuration
    /// The report on the configuration file.
    let report: ConfigurationReport
    let loop: EventLoop
    let client: TransferClient
    let trust: TrustStores
    let store: ExaminedStore
    /// The outcomes of the token requests, keyed by identity.
    private let asked: [String: LiveOutcome]
    /// True if tokens may be requested and used (`--live`).
    let isLive: Bool
    let daemon: DaemonView
    /// Every one, with what has been seen of its provider.
    let identities: [ExaminedIdentity]

    init(
        _ configuration: Configuration, _ report: ConfigurationReport, daemon: DaemonView,
        asked: [String: LiveOutcome], isLive: Bool, loop: EventLoop
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
        self.daemon = daemon
        self.asked = asked
        self.isLive = isLive
        self.identities = identities
    }

    /// The result of the identity's token request; nil if none was made.
    func liveOutcome(of identity: ExaminedIdentity) -> Result<Void, CommandFailure>? {
        guard let outcome = asked[identity.name] else { return nil }
        guard var failure = outcome.failure else { return .success(()) }
        // Where the daemon has asked, its status tells why.
        if failure.code == nil {
            failure.code = known(of: identity)?.lastError.map(TroubleCode.init)
        }
        return .failure(failure)
    }

    /// The token that an identity's source gave; nil if it was not asked, or gave none.
    func sourceToken(of name: String) -> Secret? { asked[name]?.token }

    /// Returns true if a new token was requested for the identity.
    func hasAsked(_ identity: ExaminedIdentity) -> Bool { asked[identity.name] != nil }

    /// Why doctor cannot look into the daemon's store, which is not where this user's would be; nil if it can, or none runs.
    var storeElsewhere: String? {
        guard let status = daemon.status, status.otherFile(than: report.file) == nil,
            let directory = configuration.store.directory,
            let theirs = status.otherStore(than: directory)
        else { return nil }
        return
            "the daemon keeps its sessions in \(theirs), and doctor would look in \(directory): run it with "
            + "STATE_DIRECTORY=\(theirs), or set store.directory"
    }

    /// The status of an identity in the running daemon; nil if none runs.
    func known(of identity: ExaminedIdentity) -> SessionStatus? {
        daemon.status?.identities.first { $0.name == identity.name }
    }

    /// Returns true if a route of the running daemon uses the identity.
    func isUsed(_ identity: ExaminedIdentity) -> Bool {
        daemon.status?.routes.contains { $0.identity == identity.name } ?? false
    }

    /// Returns true if no route uses the identity, of the configuration or of the running daemon.
    func isUnused(_ identity: ExaminedIdentity) -> Bool {
        !isUsed(identity) && !configuration.routes.contains { $0.identity == identity.name }
    }

    /// Why nothing can be asked for in an identity's name, in words; nil where it can.
    func reasonNotToAsk(for identity: ExaminedIdentity) -> String? {
        if identity.client.exchangesCallersTokens { return Self.withoutCaller }
        guard identity.client.source == nil else { return nil }
        guard !configuration.store.isShared else { return nil }
        switch daemon {
        case .unasked(let reason): return "the store is in memory, and \(reason)"
        case .nobody:
            return "the store is in memory, and no daemon answers at admin.listen: bearerd run begins one"
        case .running, .failed: return nil
        }
    }

    /// The reason for identities that only exchange their callers' tokens.
    private static let withoutCaller =
        "each caller's token is exchanged when it comes (subject_token: from_request): without a caller there is nothing to ask with"
}
