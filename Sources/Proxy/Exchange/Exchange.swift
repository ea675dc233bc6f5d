// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPClient
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import OAuth
internal import BearerdRouting

/// One request and its answer, on their way through a worker.
///
/// Whoever has a connection keeps one and begins it anew for each request, and the next connection takes it over, so
/// that its memory is used again. What is in here is state only, in groups by the step that owns it; the steps are the
/// forwarder's, in the order of ``Forwarder/serve(_:)``.
final class Exchange<Client: ClientExchange, Pool: ExchangePool> {
    let client: Client
    /// The request as it goes up, and what comes back, while there is a connection for it.
    var upstream: Pool.Exchange?
    let upload: Upload<Client, Pool.Exchange>
    /// What holds for the request: by the snapshot that there was when it began.
    private(set) var routing: ListenerRouting<Pool>

    // The request.

    /// The route, once it is found.
    var route: RouteState<Pool>?
    /// What the request asks of the connection that carries it up.
    var form = RequestForm()
    /// The target as it came, where it was changed.
    var originalTarget: [UInt8] = []
    /// The `Host` as it came, once it is found to be one of the listener's; empty without one.
    ///
    /// It stays for the next request: clients seldom change it.
    var host: [UInt8] = []
    /// What else the request was let in by, as it came: a key does not go up, and `Origin` may be changed.
    private(set) var claims = HTTPFields()

    /// The token that goes into the request, if it is ours.
    var token: AccessTokenSnapshot?

    /// Whose token it is exchanged for, where that is the caller's own.
    var caller: CallerToken?
    /// Whether the token is bound to a key, so that the request has to prove it each time that it is sent.
    var needsProof = false
    /// What the request has been sent once more with.
    var repetition = Repetition()

    /// How the answer goes on.
    var answer = AnswerProgress()
    /// Why it would not have been begun any more, once a reload has found that out; nil for nearly all.
    var revocation: Revocation?
    /// What is recorded of it for a trace; nil for most.
    var trace: RequestTrace?
    /// What is told of the exchange when it is over.
    var record = ExchangeRecord()
    /// What is known of the client, kept by ``ClientWatch``.
    var presence = ClientPresence()

    init(client: Client, routing: ListenerRouting<Pool>, loop: EventLoop) {
        self.client = client
        self.routing = routing
        upload = Upload(from: client, loop: loop)
    }

    /// Serves what comes next, another client's or by another snapshot, as `routing` has it.
    func use(_ routing: ListenerRouting<Pool>) {
        guard routing !== self.routing else { return }
        host.removeAll()
        self.routing = routing
    }

    /// Has the next request judged as the first of a connection is.
    func forgetClient() { host.removeAll() }

    /// Keeps what the request was let in by, for as long as it goes on.
    func keepClaims() {
        claims.removeAll(keepingCapacity: true)
        for name in [HTTPFields.Name.host, .origin, .secFetchSite, .referer, .bearerdKey] {
            if let value = client.request.fields.bytes(of: name) { claims.append(name, bytes: value.span) }
        }
        record.hasClaims = true
    }

    /// Forgets the request before.
    func begin() {
        route = nil
        form = RequestForm()
        token = nil
        if caller != nil { caller = nil }
        needsProof = false
        repetition = Repetition()
        answer = AnswerProgress()
        record = ExchangeRecord()
        if trace != nil { trace = nil }
        if revocation != nil { revocation = nil }
        if !originalTarget.isEmpty { originalTarget.removeAll(keepingCapacity: true) }
    }

    /// Lets go of what a request may have made large, and nobody asks for any more.
    func letGo() {
        upload.letGo()
        originalTarget = []
        claims = HTTPFields()
    }

    /// The scheme that the client used.
    var clientScheme: HTTPURL.Scheme { client.isEncrypted ? .https : .http }

    /// The scheme and authority that the client used; `nil` where it has none, on a Unix socket.
    var clientOrigin: String? {
        guard !host.isEmpty, case .ip = client.peer else { return nil }
        return "\(clientScheme.rawValue)://" + String(decoding: host, as: UTF8.self)
    }

    /// The upstream's scheme and the client's `Host`, in lower case and without the scheme's own port, where the route
    /// tells the upstream that one.
    func toldOrigin(on route: PreparedRoute) -> String? {
        guard case .preserve = route.terms.hostField, !host.isEmpty else { return nil }
        let scheme = route.upstream.address.url.scheme == .https ? HTTPURL.Scheme.https : .http
        return HTTPURL("\(scheme.rawValue)://" + String(decoding: host, as: UTF8.self))?.origin
    }

    /// Whether the client may be switched to a protocol: one that it offered, and no other (RFC 9110 7.8).
    func mayUpgrade(to chosen: String) -> Bool {
        guard let upgrade = form.upgrade else { return false }
        return upgrade.lowercased().split(separator: ",").contains { offered in
            offered.drop { $0 == " " } == chosen.lowercased()
        }
    }

    /// Whether the client has gone, and nothing is to be begun on its behalf.
    var isClientGone: Bool { presence.state == .gone }

    /// Whether bytes pass both ways, after a 101.
    var isTunnel: Bool { record.status == 101 }

    /// Whether everything that was sent upstream can be sent again.
    var isReplayable: Bool { upload.isWholeKept }
}
