// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPClient
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdRouting
internal import BearerdSystem
internal import OAuth

/// A head of the client's beyond this, in bytes, is large for a server: nginx takes a field of 8 KiB.
private let largeHead = 8 * 1024

/// One request and its response on their way through a worker.
///
/// A connection has one exchange, which begins anew for each request and is passed on to the next connection,
/// so that its memory is reused. It holds state only, grouped by the step that owns it. The steps are methods
/// of the forwarder, in the order of ``Forwarder/serve(_:)``.
final class Exchange<Client: ClientExchange, Kinds: UpstreamKinds> {
    let client: Client
    /// The request as it goes up, and what comes back, while there is a connection for it; for those who only end it.
    ///
    /// Those who send and receive know its type.
    var upstream: (any UpstreamExchange)?
    let upload: Upload<Client>
    /// The listener's part of the snapshot that was in force when the request began.
    private(set) var routing: ListenerRouting<Kinds>

    // The request.

    /// The request's route; nil until it is found.
    var route: RouteState?
    /// The needs of the request that an upstream connection must meet.
    var form: RequestForm {
        @inline(__always)
        _read { yield wanted.value }
        @inline(__always)
        _modify { yield &wanted.value }
    }
    /// The target as received; empty if it was not changed.
    var originalTarget: [UInt8] {
        @inline(__always)
        _read { yield receivedTarget.value }
        @inline(__always)
        _modify { yield &receivedTarget.value }
    }
    /// The `Host` as received, once it is known to be one of the listener's; empty without one.
    ///
    /// It is kept for the next request, because clients seldom change it.
    var host: [UInt8] {
        @inline(__always)
        _read { yield receivedHost.value }
        @inline(__always)
        _modify { yield &receivedHost.value }
    }
    /// True if the client's connection is known to be admitted under ``routing``.
    var isClientAdmitted = false
    /// The other fields by which the request was admitted, as received; they may be removed or changed later.
    private(set) var claims: HTTPFields {
        @inline(__always)
        _read { yield kept.value }
        @inline(__always)
        _modify { yield &kept.value }
    }

    /// bearerd's access token for the request, if it gets one.
    var token: AccessTokenSnapshot?

    /// The caller's own token, on a route that exchanges it.
    var caller: CallerToken?
    /// True if the request came with a field of the token's name.
    var hasOwnCredentials = false
    /// True if the token is bound to a key, so that each sending of the request needs a DPoP proof (RFC
    /// 9449).
    var needsProof = false
    /// True for a call of gRPC, by the head that goes up; noted because each answer asks for it several times.
    var isCall = false
    /// The reasons for which the request was sent again.
    var repetition = Repetition()

    /// The progress of the response.
    var answer = AnswerProgress()
    /// The reason why the request would no longer be accepted after a reload; nil for nearly all.
    var revocation: Revocation?
    /// The spans of a traced request; nil for most.
    var trace: RequestTrace?
    private let kept = Exclusive(HTTPFields())
    private let wanted = Exclusive(RequestForm())
    private let receivedTarget = Exclusive<[UInt8]>([])
    private let receivedHost = Exclusive<[UInt8]>([])
    private let recorded = Exclusive(ExchangeRecord())
    private let observed = Exclusive(ClientPresence())

    init(client: Client, routing: ListenerRouting<Kinds>, loop: EventLoop) {
        self.client = client
        self.routing = routing
        upload = Upload(from: client, loop: loop)
    }

    /// The data for the access log, metrics and audit.
    var record: ExchangeRecord {
        @inline(__always)
        _read { yield recorded.value }
        @inline(__always)
        _modify { yield &recorded.value }
    }

    /// The state of the client, kept by ``ClientWatch``.
    var presence: ClientPresence {
        @inline(__always)
        _read { yield observed.value }
        @inline(__always)
        _modify { yield &observed.value }
    }

    /// Prepares for requests under `routing`, which may belong to another client or a newer snapshot.
    func use(_ routing: ListenerRouting<Kinds>) {
        guard routing !== self.routing else { return }
        forgetClient()
        self.routing = routing
    }

    /// Prepares for a request of a client whose connection, if it `isAdmitted`, and `host` were judged under `routing`.
    func use(_ routing: ListenerRouting<Kinds>, isAdmitted: Bool, host: [UInt8]) {
        if routing !== self.routing { self.routing = routing }
        isClientAdmitted = isAdmitted
        self.host = host
    }

    /// Makes the next request be judged like the first of a connection.
    func forgetClient() {
        isClientAdmitted = false
        host.removeAll()
    }

    /// Leaves nothing of a connection's last request in a seat that may stay vacant: neither the token in its head, nor those
    /// that it came with.
    func leaveClient() {
        client.request.wipe()
        claims.wipe()
        token = nil
        caller = nil
    }

    /// Keeps the fields by which the request was admitted, so that a reload can judge it again.
    func keepClaims() {
        claims.removeAll(keepingCapacity: true)
        for name in [HTTPFields.Name.host, .origin, .secFetchSite, .referer, .bearerdKey] {
            if let value = client.request.fields.bytes(of: name) { claims.append(name, bytes: value.span) }
        }
        record.hasClaims = true
    }

    /// Resets the state of the previous request.
    func begin() {
        route = nil
        form = RequestForm()
        token = nil
        if caller != nil { caller = nil }
        hasOwnCredentials = false
        needsProof = false
        isCall = false
        repetition = Repetition()
        answer = AnswerProgress()
        record.begin()
        if trace != nil { trace = nil }
        if revocation != nil { revocation = nil }
        if !originalTarget.isEmpty { originalTarget.removeAll(keepingCapacity: true) }
    }

    /// Notes how large the head is with the token, for an upstream that takes many requests on one connection.
    func measureHead() {
        let size = client.request.http2Size
        form.headSize = size
        guard size > largeHead else { return }
        let tokenSize = token?.token.withPlaintextBytes { $0.count } ?? 0
        form.isHeadLarge = size - tokenSize > largeHead
    }

    /// Frees memory that a request may have made large and that is no longer needed.
    func letGo() {
        upload.letGo()
        originalTarget = []
        claims = HTTPFields()
    }

    /// The scheme that the client used.
    var clientScheme: HTTPURL.Scheme { client.isEncrypted ? .https : .http }

    /// The scheme and authority that the client used; nil on a Unix socket or without a `Host`.
    var clientOrigin: String? {
        guard !host.isEmpty, case .ip = client.peer else { return nil }
        return "\(clientScheme.rawValue)://" + String(decoding: host, as: UTF8.self)
    }

    /// The upstream's scheme and the client's `Host`, in lower case and without the default port.
    ///
    /// Nil unless the route passes the client's `Host` on to the upstream.
    func toldOrigin(on route: PreparedRoute) -> String? {
        guard case .preserve = route.terms.hostField, !host.isEmpty else { return nil }
        let scheme = route.upstream.address.url.scheme == .https ? HTTPURL.Scheme.https : .http
        return HTTPURL("\(scheme.rawValue)://" + String(decoding: host, as: UTF8.self))?.origin
    }

    /// Returns true if the client offered to switch to this protocol (RFC 9110 §7.8).
    func mayUpgrade(to chosen: String) -> Bool {
        guard let upgrade = form.upgrade else { return false }
        return upgrade.lowercased().split(separator: ",").contains { offered in
            offered.drop { $0 == " " } == chosen.lowercased()
        }
    }

    /// True if the client has left, so that no more work is begun for it.
    var isClientGone: Bool { presence.state == .gone }

    /// True if raw bytes pass both ways, after a 101 response.
    var isTunnel: Bool { record.status == 101 }

    /// True if all content that was sent upstream can be sent again.
    var isReplayable: Bool { upload.isWholeKept }
}
