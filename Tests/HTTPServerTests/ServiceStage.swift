// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdTestSupport

/// A small service whose paths are told apart by what a test wants of it.
struct StageResponder: HTTPResponder {
    /// Held answers pass through it.
    let gate = AsyncGate()

    func judge(_ request: ServiceRequest) async -> ServiceJudgement {
        let gate = gate
        switch request.path {
        case "/no": return .refused(ServiceReply(head: HTTPResponse(status: 403)))
        case "/echo":
            return .answered { body in ServiceReply(head: HTTPResponse(status: 200), body: .bytes(body)) }
        case "/probe": return .answered(isProbe: true) { ServiceReply(head: HTTPResponse(status: 204)) }
        case "/held":
            return .answered {
                await gate.pass()
                return ServiceReply(head: HTTPResponse(status: 200), body: .bytes(Array("late".utf8)))
            }
        case "/stream", "/cut":
            let isCut = request.path == "/cut"
            return .answered {
                ServiceReply(
                    head: HTTPResponse(status: 200),
                    body: .stream { writer in
                        try await writer.write(Array("one".utf8))
                        if isCut { throw StreamError.closed }
                        try await writer.write(Array("two".utf8))
                    })
            }
        default:
            return .answered { ServiceReply(head: HTTPResponse(status: 200), body: .bytes(Array("ok".utf8))) }
        }
    }
}

/// Holds whoever comes until it is opened, and tells how many have come.
actor AsyncGate {
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var count = 0
    private var counted: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    /// Returns when so many have come.
    func reach(_ count: Int) async {
        guard self.count < count else { return }
        await withCheckedContinuation { counted.append((count, $0)) }
    }

    func pass() async {
        count += 1
        for watcher in counted where watcher.count <= count { watcher.continuation.resume() }
        counted.removeAll { $0.count <= count }
        guard !isOpen else { return }
        await withCheckedContinuation { waiters.append($0) }
    }

    func open() {
        isOpen = true
        waiters.forEach { $0.resume() }
        waiters = []
    }
}

/// A small service at a Unix socket, on a loop of its own.
struct ServiceStage {
    let service: HTTPService
    let responder: StageResponder
    private let socket: String

    /// A client, which blocks.
    func client() throws -> RawClient { try RawClient(to: .unix(path: socket)) }

    /// Waits until so many requests are held.
    func awaitHeld(_ count: Int) async { await responder.gate.reach(count) }

    /// Plays one act with a service of its own.
    static func play(
        connections: Int = 64, _ act: (ServiceStage) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("s")
        let socket = try ListeningSocket.unix(path: path)
        defer { socket.close() }
        let loop = try EventLoop(name: "test")
        let thread = try loop.start()
        let responder = StageResponder()
        let service = HTTPService(
            loop: loop, responder: responder, limits: ServiceLimits(connections: connections))
        try await service.listen(on: socket)
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await act(ServiceStage(service: service, responder: responder, socket: path)))
        } catch {
            result = .failure(error)
        }
        await responder.gate.open()
        await service.stop(waitingAtMost: .seconds(2))
        loop.stop()
        thread.join()
        try result.get()
    }
}
