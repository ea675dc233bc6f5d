// SPDX-License-Identifier: Apache-2.0

internal import System

/// Has the kernel keep silent connections back while many come to a listener.
///
/// A client that connects for one request sends it at once: told of the connection only with its first bytes, a loop
/// wakes up once for it and not twice. Where few connections come nothing is kept back, so that a silent client is
/// seen, and served to the end of a drain, like any other. Confined to its loop's thread.
final class SilenceFilter {
    /// So many connections within ``span`` are many.
    private static let many = 500
    private static let span = Duration.seconds(1)

    private let socket: ListeningSocket
    private(set) var isOn = false
    /// Connections since `begin`, or since the timer was set.
    private var count = 0
    private var begin: UInt64 = 0
    private let loop: EventLoop
    private lazy var timer = LoopTimer(loop: loop) { [unowned self] in judge() }  // the timer goes with us

    init(_ socket: ListeningSocket, loop: EventLoop) {
        self.socket = socket
        self.loop = loop
    }

    /// Counts a connection.
    func accepted() {
        count += 1
        guard !isOn, count >= Self.many else { return }
        let now = coarseNanoseconds()
        if now &- begin < Self.span.wholeNanoseconds { turn(on: true) }
        count = 0
        begin = now
    }

    /// Keeps nothing back from here on.
    ///
    /// - Returns: whether there may be connections that the kernel still has, and hands over with their first bytes.
    func end() -> Bool {
        defer { if isOn { turn(on: false) } }
        return isOn
    }

    private func judge() {
        if count < Self.many { turn(on: false) } else { timer.set(after: Self.span) }
        count = 0
        begin = coarseNanoseconds()
    }

    private func turn(on isOn: Bool) {
        self.isOn = isOn
        socket.keepBackSilent(isOn)
        if isOn { timer.set(after: Self.span) } else { timer.cancel() }
    }
}
