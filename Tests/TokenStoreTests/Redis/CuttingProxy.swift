// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

/// Stands between a store and its server, and cuts a connection in the middle of a command or of its answer, or says more
/// than the server has.
final class CuttingProxy: Sendable {
    /// Where the connection ends.
    enum Cut: CaseIterable {
        /// Half of the command has gone through.
        case command
        /// The command has gone through, and nothing of its answer.
        case answer
        /// Half of the answer has gone through.
        case halfAnswer
    }

    private struct State {
        var cut: Cut?
        /// How many commands still pass before.
        var left = 0
        /// True to send a reply too many behind the next answer.
        var saysMore = false
    }

    private let directory: TemporaryDirectory
    private let state: Monitor<State>
    private let server: RawServer

    /// The socket that stands for the server's.
    var path: String { directory.path("cut.sock") }

    init(to redis: RedisProcess) throws {
        directory = try TemporaryDirectory()
        let state = Monitor(State())
        self.state = state
        let address = redis.address
        server = try RawServer(unixPath: directory.path("cut.sock")) { client in
            let upstream = try RawClient(to: address).wire
            defer { upstream.close() }
            while true {
                // One command at a time is sent, and whole in one piece or more.
                let command = try Self.message(from: client)
                let cut = state.withLock { state -> Cut? in
                    state.left -= 1
                    guard state.left == 0 else { return nil }
                    defer { state.cut = nil }
                    return state.cut
                }
                if cut == .command {
                    try upstream.send(Array(command.prefix(command.count / 2)))
                    return
                }
                try upstream.send(command)
                let answer = try upstream.readSome()
                switch cut {
                case .answer: return
                case .halfAnswer:
                    try client.send(Array(answer.prefix(answer.count / 2)))
                    return
                case .command, nil:
                    let surplus = state.withLock { state -> String in
                        defer { state.saysMore = false }
                        return state.saysMore ? "+OK\r\n" : ""
                    }
                    try client.send(answer + Array(surplus.utf8))
                }
            }
        }
    }

    /// Cuts once, at the `count`-th command from now on.
    func cut(_ cut: Cut, at count: Int) {
        state.withLock { $0 = State(cut: cut, left: count) }
    }

    /// Has a reply that answers nothing follow the next answer.
    func sayMore() { state.withLock { $0.saysMore = true } }

    func cutNothing() { state.withLock { $0 = State() } }

    /// A whole command: an array of bulk strings.
    static func message(from wire: Wire) throws -> [UInt8] {
        var bytes: [UInt8] = []
        func line() throws -> Int {
            var text: [UInt8] = []
            while text.last != 0x0A { text += try wire.read(exactly: 1) }
            bytes += text
            return Int(String(decoding: text.dropFirst().dropLast(2), as: UTF8.self)) ?? 0
        }
        let count = try line()
        for _ in 0..<count {
            let length = try line()
            bytes += try wire.read(exactly: length + 2)
        }
        return bytes
    }
}
