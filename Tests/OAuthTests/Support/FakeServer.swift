// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import Synchronization

@testable import OAuth

/// A transport that answers as the test says; without a word from the test, with fresh tokens.
final class FakeServer: TokenTransport {
    enum Reply: Sendable {
        case response(TransportResponse)
        case error(TransportError)
        /// Answered by ``release(with:)``.
        case held

        static func status(_ status: Int, _ body: String = "") -> Reply {
            .response(TransportResponse(status: status, body: Array(body.utf8)))
        }
    }

    private struct State {
        var requests: [TransferRequest] = []
        var script: [Reply] = []
        var documents: [String: Reply] = [:]
        var held: [CheckedContinuation<Reply, Never>] = []
        var issued = 0
        var inFlight = 0
        var mostInFlight = 0
        var isFrozen = false
    }

    private let state = Mutex(State())
    let journal: Journal

    init(journal: Journal) {
        self.journal = journal
    }

    /// Requests to the token endpoint so far, their bodies.
    var bodies: [String] {
        state.withLock {
            $0.requests.filter { $0.method == .post }.map { String(decoding: $0.body, as: UTF8.self) }
        }
    }

    var posts: [TransferRequest] { state.withLock { $0.requests.filter { $0.method == .post } } }

    /// The last request so far.
    var last: TransferRequest? { state.withLock { $0.requests.last } }

    /// Every address asked so far.
    var urls: [String] { state.withLock { $0.requests.map(\.url.description) } }

    /// Values of `Authorization` so far.
    var credentials: [String] { state.withLock { $0.requests.compactMap { $0.fields[.authorization] } } }

    var mostInFlight: Int { state.withLock { $0.mostInFlight } }

    /// Whether nothing but token requests is held too, whatever was published.
    var isFrozen: Bool {
        get { state.withLock { $0.isFrozen } }
        set { state.withLock { $0.isFrozen = newValue } }
    }

    /// What the next token requests are answered with.
    func script(_ replies: Reply...) { state.withLock { $0.script += replies } }

    /// What a GET of `url` is answered with; 404 where nothing is said.
    func publish(_ reply: Reply, at url: String) { state.withLock { $0.documents[url] = reply } }

    /// Answers the oldest held request; nil means with fresh tokens.
    func release(with reply: Reply? = nil) {
        let (continuation, reply) = state.withLock { state in
            (state.held.isEmpty ? nil : state.held.removeFirst(), reply ?? Self.fresh(&state))
        }
        continuation?.resume(returning: reply)
    }

    func send(_ request: TransferRequest) async throws(TransportError) -> TransportResponse {
        let planned = state.withLock { state -> Reply in
            state.requests.append(request)
            state.inFlight += 1
            state.mostInFlight = max(state.mostInFlight, state.inFlight)
            if request.method == .get, state.isFrozen { return .held }
            if request.method == .get { return state.documents[request.url.description] ?? .status(404) }
            return state.script.isEmpty ? Self.fresh(&state) : state.script.removeFirst()
        }
        if request.method == .post { journal.append("request") }
        var reply = planned
        if case .held = planned {
            reply = await withCheckedContinuation { continuation in
                state.withLock { $0.held.append(continuation) }
            }
        }
        state.withLock { $0.inFlight -= 1 }
        switch reply {
        case .response(let response): return response
        case .error(let error): throw error
        case .held: throw .timedOut
        }
    }

    private static func fresh(_ state: inout State) -> Reply {
        state.issued += 1
        return .status(
            200,
            #"{"access_token":"at\#(state.issued)","expires_in":300,"refresh_token":"rt\#(state.issued)"}"#)
    }
}
