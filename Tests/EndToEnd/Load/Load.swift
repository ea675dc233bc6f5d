// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import CBearerdLoad

/// A resource server that knows by a request's nonce what it must hold, and answers accordingly.
final class LoadServer {
    private var server: OpaquePointer?
    /// As it stands in a route's `upstream`.
    let url: String

    /// - Parameters:
    ///   - revokesEvery: after so many requests it refuses the token at hand from then on, but not twice within a
    ///     route's hold-off; 0 for never.
    ///   - restartsEvery: after so many it ends every connection and is away for a moment.
    init(revokesEvery: Int = 0, restartsEvery: Int = 0) throws {
        var plan = load_server_plan(revokes_every: revokesEvery, restarts_every: restartsEvery)
        guard let server = load_server_start(&plan) else { throw WireError("the server cannot listen") }
        self.server = server
        url = "http://127.0.0.1:\(load_server_port(server))"
    }

    deinit { _ = stop() }

    /// Ends it and tells what it saw.
    @discardableResult
    func stop() -> load_server_tally {
        var tally = load_server_tally()
        if let server { load_server_stop(server, &tally) }
        server = nil
        return tally
    }
}

/// What the clients of one run saw.
struct Load {
    private let tally: load_tally

    /// Sends requests to the data listener of a bearerd whose upstream is a ``LoadServer``; returns when all have
    /// their end.
    init(
        _ requests: Int, to address: Address, connections: Int = 64, seed: UInt64 = 1,
        goesAwayPermille: Int = 0,
        requestsPerConnection: Int = 0
    ) {
        var plan = load_plan(
            port: address.port, connections: Int32(connections), requests: requests, seed: seed,
            goes_away_permille: Int32(goesAwayPermille), requests_per_connection: Int32(requestsPerConnection)
        )
        var tally = load_tally()
        load_run(&plan, &tally)
        self.tally = tally
    }

    /// Requests that were begun.
    var started: Int { tally.started }
    /// Those with a 200 of the server that was right to the last byte.
    var answered: Int { tally.answered }
    /// Those with a 401 of the server.
    var unauthorized: Int { tally.unauthorized }
    /// Those with an answer of bearerd's own.
    var own: Int { tally.own }
    /// Those whose answer ended before its end, as the connection showed.
    var cut: Int { tally.cut }
    /// Those that the client sent behind another one on a connection that ended.
    var unserved: Int { tally.unserved }
    /// Those that the client went away from.
    var abandoned: Int { tally.abandoned }
    /// Wrong answers.
    var faults: Int { tally.faults }

    /// The ends that requests had, added up.
    var ended: Int { answered + unauthorized + own + cut + unserved + abandoned }

    /// How many answers had this status.
    func count(of status: Int) -> Int {
        withUnsafeBytes(of: tally.by_status) { $0.bindMemory(to: Int.self)[status] }
    }

    /// The first wrong answer, in words.
    var firstFault: String { text(of: tally.first_fault) }
}

extension load_server_tally {
    /// The first wrong request, in words.
    var firstFault: String { text(of: first_fault) }
}

extension Load: CustomStringConvertible {
    var description: String {
        let statuses = (200..<600).filter { count(of: $0) > 0 }.map { "\($0): \(count(of: $0))" }
        return """
            \(started) requests: \(answered) answered, \(unauthorized) unauthorized, \(own) own answers, \(cut) cut, \
            \(unserved) unserved, \(abandoned) abandoned, \(faults) faults (\(statuses.joined(separator: ", "))) \
            \(firstFault)
            """
    }
}

private func text<Characters>(of characters: Characters) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
