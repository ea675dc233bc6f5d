// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages

/// What one worker holds the requests of one listener to, by one snapshot: the one reference that an exchange has.
final class ListenerRouting<Pool: ExchangePool> {
    /// The worker's ``WorkerState/version``.
    let version: Int
    let listener: ListenerPolicy
    let access: AccessPolicy
    let bodyLimit: UInt64
    let streamIdle: Duration
    let table: RouteTable<RouteState<Pool>>
    /// What the user who calls decides; nil where no route asks.
    let callers: CallerRoutes<Pool>?
    /// Whether the snapshot has no such listener any more: what is answered now is the last on its connection.
    let isClosing: Bool
    /// Whether it is written down whom a token served.
    let isAudited: Bool
    /// Whether some requests are traced.
    let isTraced: Bool

    /// Why a client may not use the listener, whatever it asks for; nil if it may.
    func denial(of client: some ClientExchange) -> ProxyError.Denial? {
        guard access.admits(client.peer) else { return .peer }
        // Unix sockets are never encrypted.
        guard let security = listener.security, case .ip = client.peer else { return nil }
        return client.isAdmitted(by: security) ? nil : .certificate
    }

    init(
        _ listener: ListenerPolicy, by snapshot: RoutingSnapshot, version: Int, routes: [RouteState<Pool>],
        isClosing: Bool = false
    ) {
        self.version = version
        self.listener = listener
        access = snapshot.access
        bodyLimit = snapshot.bodyLimit ?? .max
        streamIdle = snapshot.serverTimeouts.streamIdle
        callers = CallerRoutes(routes)
        table = RouteTable((callers?.found ?? routes).map { ($0.plan, $0) }, at: listener.key.address)
        self.isClosing = isClosing
        isAudited = snapshot.audit != nil
        isTraced = snapshot.tracing != nil
    }
}
