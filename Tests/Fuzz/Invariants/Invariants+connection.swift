// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTP1
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdHTTPServer

extension Invariants {
    /// A server's reading of one request.
    private struct Understood: Equatable {
        var method: HTTPMethod
        var target: [UInt8]
        var fields: HTTPFields
        var framing: BodyFraming?
        var body: [UInt8] = []
        var trailers = HTTPFields()
        var isWhole = false
    }

    /// A server's reading of a connection, and the fault at its end.
    private struct Conversation: Equatable {
        var requests: [Understood] = []
        var failure: MessageFault?
    }

    /// Carries a result out of a task.
    private final class Finding: @unchecked Sendable {
        // Written on the loop's thread, and read by the same one after the loop.
        var violation: String?
    }

    /// Checks that a server reads the same messages wherever the network splits the bytes.
    ///
    /// The first eight bytes choose the splits.
    package static func violation(connection bytes: [UInt8]) -> String? {
        guard let loop = try? EventLoop(name: "fuzzer") else { return "no loop" }
        let finding = Finding()
        Task(executorPreference: loop) {
            finding.violation = await violation(connection: bytes, on: loop)
            loop.stop()
        }
        loop.run()
        return finding.violation
    }

    private static func violation(connection bytes: [UInt8], on loop: EventLoop) async -> String? {
        let seed = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // A line without its end may be judged at its first bytes or at its end: so the last one has an end.
        let rest = Array(bytes.dropFirst(8)) + [0x0A]
        let whole = await conversation(rest, on: loop) { rest.count }
        for limit in [1, 7, 64, 2_000] {
            var state = seed
            let cut = await conversation(rest, on: loop) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return 1 + Int(state >> 33) % limit
            }
            guard cut != whole else { continue }
            return "in pieces of up to \(limit): \(cut)\nwhole: \(whole)"
        }
        return nil
    }

    private static func conversation(
        _ bytes: [UInt8], on loop: EventLoop, nextLength: @escaping () -> Int
    ) async -> Conversation {
        let stream = ByteStream(
            wire: PiecewiseWire(bytes, nextLength: nextLength),
            readiness: Readiness(descriptor: -1, loop: loop), loop: loop)
        defer { stream.close() }
        let connection = ServerConnection(
            stream: stream, peer: .unknown, limits: fuzzLimits,
            timeouts: ServerTimeouts(header: .zero, idle: .zero, streamIdle: .zero))
        var seen = Conversation()
        do throws(MessageError) {
            while try await connection.receiveHead() {
                seen.requests.append(
                    Understood(
                        method: connection.request.method, target: Array(connection.request.targetBytes),
                        fields: connection.request.fields))
                try await readBody(of: connection, into: &seen)
                guard connection.persists else { break }
                connection.answered()
            }
        } catch .malformed(let fault) {
            seen.failure = fault
        } catch {}
        return seen
    }

    private static func readBody(
        of connection: ServerConnection, into seen: inout Conversation
    ) async throws(MessageError) {
        let last = seen.requests.count - 1
        do {
            let framing = try connection.framing.get()
            seen.requests[last].framing = framing
        } catch {
            throw MessageError(error)
        }
        _ = try connection.beginBody(limit: .max)
        while try await connection.incoming.nextPiece(within: .zero) != nil {
            connection.incoming.withPiece { seen.requests[last].body.append($0) }
            connection.incoming.consumePiece()
        }
        seen.requests[last].trailers = connection.incoming.trailers
        seen.requests[last].isWhole = true
    }
}
