// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdObservability

/// One listener's part of a snapshot, as one worker uses it; an exchange holds this one reference.
final class ListenerRouting<Kinds: UpstreamKinds> {
    /// The worker's ``WorkerState/version`` at which this was made.
    let version: Int
    let listener: ListenerPolicy
    let access: AccessPolicy
    let bodyLimit: UInt64
    let streamIdle: Duration
    /// The status page, where the configuration is in no file that a command could be given.
    let pageInPlaceOfCommands: String?
    let table: RouteTable<RouteByKind<Kinds>>
    /// The routes that depend on the calling user; nil if none does.
    let callers: CallerRoutes<Kinds>?
    /// True if the snapshot no longer has the listener, so that connections end with their current response.
    let isClosing: Bool
    /// The output for audit lines, which stays open for the requests that began with it; nil without one.
    let audit: (any AuditSink)?
    /// True if the audit records which token served whom.
    let isAudited: Bool
    /// True if some requests are traced.
    let isTraced: Bool

    /// True if a connection ends with its current response, because the snapshot no longer has its listener, or that
    /// no longer has its protocol.
    func endsConnections(of version: HTTPVersion) -> Bool {
        isClosing || !(version == .http2 ? listener.speaksHTTP2 : listener.speaksHTTP1)
    }

    /// The reason why a client may not use the listener at all; nil if it may.
    func refusal(of client: some ClientExchange) -> ProxyError? {
        guard access.admits(client.peer) else { return .accessDenied(.peer) }
        // Unix sockets are never encrypted.
        guard let security = listener.security, case .ip = client.peer else { return nil }
        guard client.isEncrypted else { return .unencryptedRequest }
        guard client.isAdmitted(by: security) else { return .accessDenied(.certificate) }
        guard let rules = access.clientNames else { return nil }
        let names = client.peerNames
        return rules.admit(hosts: names.hosts, uris: names.uris) ? nil : .accessDenied(.certificateName)
    }

    init(
        _ listener: ListenerPolicy, by snapshot: RoutingSnapshot, version: Int, routes: [RouteByKind<Kinds>],
        isClosing: Bool = false
    ) {
        self.version = version
        self.listener = listener
        access = snapshot.access
        bodyLimit = snapshot.bodyLimit ?? .max
        streamIdle = snapshot.serverTimeouts.streamIdle
        pageInPlaceOfCommands = snapshot.pageInPlaceOfCommands
        callers = CallerRoutes(routes)
        table = RouteTable((callers?.found ?? routes).map { ($0.state.plan, $0) }, at: listener.key.address)
        self.isClosing = isClosing
        audit = snapshot.audit
        isAudited = audit != nil
        isTraced = snapshot.tracing != nil
    }
}
