// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import BearerdHTTPServer

/// Server-sent events that count (HTML Living Standard §9.2).
struct EventTicker {
    /// The number of events; nil sends them until the client leaves.
    let count: Int?
    let interval: Duration

    /// Parses `count` and `interval_ms` of a query; other parameters are ignored.
    init(_ query: String?) {
        var count: Int?
        var milliseconds = 1000
        for pair in (query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let number = Int(parts[1]), number >= 0 else { continue }
            if parts[0] == "count" { count = number }
            if parts[0] == "interval_ms" { milliseconds = max(1, min(number, 60_000)) }
        }
        self.count = count
        interval = .milliseconds(milliseconds)
    }

    static func event(_ number: Int) -> [UInt8] {
        Array("id: \(number)\nevent: tick\ndata: {\"tick\":\(number)}\n\n".utf8)
    }

    var reply: ServiceReply {
        var head = HTTPResponse(status: 200)
        head.fields[.contentType] = "text/event-stream"
        head.fields[.cacheControl] = "no-store"
        return ServiceReply(
            head: head,
            body: .stream { writer in try await write(to: writer) })
    }

    private func write(to writer: ServiceBodyWriter) async throws {
        var number = 0
        while count.map({ number < $0 }) ?? true {
            number += 1
            if number > 1 { await writer.pause(for: interval) }
            try await writer.write(EventTicker.event(number))
        }
    }
}
