// SPDX-License-Identifier: Apache-2.0

import BearerdHTTP2
import BearerdHTTPMessages
import BearerdTestSupport

/// A session under test, and a peer of it that speaks in frames, right or wrong.
final class FramePeer {
    let session: HTTP2Session
    let reader = HPACK.Reader()
    private(set) var streams: [Int32: HTTP2Stream] = [:]
    /// When the session thinks that it is.
    var now = ContinuousClock.now

    static let get = [
        (":method", "GET"), (":scheme", "http"), (":authority", "example.com"), (":path", "/a?b"),
    ]
    static let post = [
        (":method", "POST"), (":scheme", "http"), (":authority", "example.com"), (":path", "/"),
    ]

    /// - Parameter isGreeted: whether the preface and both sides' SETTINGS have passed.
    init?(
        _ role: HTTP2Session.Role = .server, limits: HTTP2Limits = HTTP2Limits(), isGreeted: Bool = true,
        pool: StreamPool = StreamPool(atMost: 0)
    ) {
        guard let session = HTTP2Session(role, limits: limits, pool: pool) else { return nil }
        self.session = session
        guard isGreeted else { return }
        if role == .server { send(bytes: HTTP2Frame.preface) }
        send(.settings(), .settingsAcknowledgement)
        _ = takeFrames()
    }

    func send(_ frames: HTTP2Frame...) { send(frames) }

    func send(_ frames: [HTTP2Frame]) { send(bytes: frames.flatMap(\.bytes)) }

    func send(bytes: [UInt8]) {
        session.receive(bytes.span, at: now)
        collect()
    }

    /// What the session has sent since the last call.
    func takeFrames() -> [HTTP2Frame] {
        session.produce(upTo: 1 << 24)
        collect()
        var bytes = session.takeOutput()
        var frames: [HTTP2Frame] = []
        while let frame = HTTP2Frame.take(from: &bytes) { frames.append(frame) }
        return frames
    }

    /// The code of the first GOAWAY that the session sends.
    func goawayCode() -> UInt32? { takeFrames().first { $0.kind == .goaway }?.number(at: 4) }

    /// The code of the first RST_STREAM that the session sends.
    func resetCode() -> UInt32? { takeFrames().first { $0.kind == .resetStream }?.number() }

    func fields(of frame: HTTP2Frame) -> [String: String] {
        Dictionary(
            (reader.fields(of: frame.payload) ?? []).map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    }

    /// The statuses of the heads that have arrived on a stream, which takes them.
    func takeStatuses(of stream: HTTP2Stream) -> [Int] {
        var statuses: [Int] = []
        while stream.hasResponse {
            var head = HTTPResponse()
            stream.takeResponse(into: &head)
            statuses.append(head.status)
        }
        return statuses
    }

    private func collect() { for stream in session.takeChanged() { streams[stream.id] = stream } }

    /// Lets go of the streams, as a server does of those that it has served.
    func forgetStreams() {
        var known = Array(streams.values)
        streams = [:]
        session.giveBack(&known)
    }

    /// Content that has arrived on a stream, without consuming it.
    func content(of id: Int32) -> String {
        guard let stream = streams[id] else { return "" }
        return stream.withReceived(stream.keptCount) { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
    }
}
