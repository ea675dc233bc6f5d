// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import HTTPClient
internal import HTTPServer
internal import HTTPTypes
internal import OAuth

/// One request and its answer, on their way through a worker.
///
/// A connection keeps one and begins it anew for each request, and the next connection takes it over, so that its
/// memory is used again. What is in here is state only; the steps that change it are the forwarder's, in the order of
/// ``Forwarder/exchange(_:)``.
final class Exchange {
    let connection: ServerConnection
    private(set) var listener: Int
    /// Where it is among those that the forwarder serves.
    var position = 0
    /// Whether its connection has been served before, and has agreed on keys if it is encrypted.
    var isSecured = false
    /// Resumed with the next connection, or with `false` when there will be none.
    var vacancy: CheckedContinuation<Bool, Never>?

    /// The route, once it is found.
    var route: RouteState?
    /// The framing of the request's body.
    var framing = BodyFraming.none
    /// The protocols the client wants to upgrade to and may, then the one that the upstream chose.
    var upgrade: String?
    let upload: Upload
    /// The token that goes into the request, if it is ours.
    var token: AccessTokenSnapshot?

    var upstream: UpstreamConnection?
    /// The head of the upstream's answer.
    var response = HTTPResponse()
    var responseParser: ResponseParser
    let responseBody: MessageBody
    var responseFraming = BodyFraming.none
    /// Whether the upstream can be asked again on its connection.
    var upstreamPersists = false

    /// What is known of the client, kept by ``ClientWatch``.
    var clientState = ClientState.idle
    /// When it was looked at last.
    var lookedAt = ContinuousClock.now
    /// What had passed, and since when nothing has, where the client has ended its direction.
    var movement: ByteStream.Movement?
    var movedAt = ContinuousClock.now
    /// Carries out a wait that ends with the client, while it is under way.
    var wait: Task<Void, Never>?

    /// When the head was there.
    var startedAt = ContinuousClock.now
    /// Whether a byte of the final answer's head was sent to the client.
    var answerHasBegun = false
    /// Whether all of the answer was sent on while the request still comes.
    var answerIsWhole = false
    /// The status the client saw, and our own code for it.
    var status = 0
    var code = ""
    var bytesOut: UInt64 = 0
    /// What the client sent through a tunnel.
    var tunnelledIn: UInt64 = 0
    var isReplayed = false
    /// The target as it came, where it was changed.
    var originalTarget: [UInt8] = []
    /// The `Host` as it came, once it is found to be one of the listener's; empty without one.
    ///
    /// It stays for the next request: clients seldom change it.
    var host: [UInt8] = []

    init(connection: ServerConnection, listener: Int, limits: HeadLimits) {
        responseParser = ResponseParser(limits: limits)
        self.connection = connection
        self.listener = listener
        upload = Upload(connection: connection)
        responseBody = MessageBody(stream: connection.stream)
    }

    /// Takes the next client's connection in place of one that has ended.
    func take(_ stream: ByteStream, from peer: PeerAddress, listener: Int) {
        connection.begin(stream, from: peer)
        if listener != self.listener { host.removeAll() }
        self.listener = listener
    }

    /// Forgets the request before.
    func begin() {
        route = nil
        framing = .none
        upgrade = nil
        token = nil
        upstream = nil
        answerHasBegun = false
        answerIsWhole = false
        status = 0
        code = ""
        bytesOut = 0
        tunnelledIn = 0
        isReplayed = false
        if !originalTarget.isEmpty { originalTarget.removeAll(keepingCapacity: true) }
        startedAt = .now
    }

    /// Lets go of what a request may have made large, and nobody asks for any more.
    func letGo() {
        upload.begin(.none, keepLimit: 0, timeout: .zero)
        response = HTTPResponse()
        originalTarget = []
    }

    /// The scheme that the client used.
    var clientScheme: HTTPURL.Scheme { connection.stream.isEncrypted ? .https : .http }

    /// The scheme and authority that the client used; `nil` where it has none, on a Unix socket.
    var clientOrigin: String? {
        guard !host.isEmpty, case .ip = connection.peer else { return nil }
        return "\(clientScheme.rawValue)://" + String(decoding: host, as: UTF8.self)
    }

    /// The upstream's scheme and the client's `Host`, in lower case and without the scheme's own port, where the route
    /// tells the upstream that one.
    func toldOrigin(on route: Route) -> String? {
        guard case .preserve = route.hostField, !host.isEmpty else { return nil }
        let scheme = route.upstream.url.scheme == .https ? HTTPURL.Scheme.https : .http
        return HTTPURL("\(scheme.rawValue)://" + String(decoding: host, as: UTF8.self))?.origin
    }

    /// Whether the client may be switched to a protocol: one that it offered, and no other (RFC 9110 7.8).
    func mayUpgrade(to chosen: String) -> Bool {
        guard let upgrade else { return false }
        return upgrade.lowercased().split(separator: ",").contains { offered in
            offered.drop { $0 == " " } == chosen.lowercased()
        }
    }

    /// Whether the client has gone, and nothing is to be begun on its behalf.
    var isClientGone: Bool { clientState == .gone }

    /// Whether bytes pass both ways, after a 101.
    var isTunnel: Bool { status == 101 }

    /// Whether everything that was sent upstream can be sent again.
    var isReplayable: Bool { upload.isWholeKept }
}
