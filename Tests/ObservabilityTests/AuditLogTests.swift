// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import Synchronization
import Testing

struct `The audit` {
    @Test func `says which token served whom`() {
        let entry = AuditEntry(
            unixMilliseconds: 1_795_257_954_007, peer: "unix:", user: 1000, executable: "/usr/bin/curl",
            command: "curl",
            route: "/api", method: "GET", identity: "alice", subject: "a\"b", generation: 7, status: 200)
        #expect(
            Self.lines([(entry, "/api/x%20y?token=secret")])
                == #"{"time":"2026-11-21T10:45:54.007Z","peer":"unix:","uid":1000,"#
                + #""executable":"/usr/bin/curl","command":"curl","route":"/api","method":"GET","path":"/api/x%20y","#
                + #""identity":"alice","subject":"a\"b","generation":7,"status":200}"# + "\n")
    }

    @Test func `says null of what nobody knows`() {
        let written = Self.lines([(Self.entry, "/"), (Self.entry, "/")])
        #expect(
            written.contains(#""uid":null,"executable":null,"command":null,"#)
                && written.contains(#""subject":null,"#))
        #expect(written.split(separator: "\n").count == 2)
    }

    @Test func `makes one line of whatever a client sends`() {
        let written = Self.lines([(Self.entry, "/a\"\n\u{1B}\\é" + String(repeating: "b", count: 5000))])
        #expect(
            written.contains(#""path":"/a%22%0A%1B%5C%C3%A9bbb"#) && written.contains(#"bbb...","identity""#))
        #expect(written.split(separator: "\n").count == 1)
    }

    @Test func `hands over as many lines as it counts, once`() {
        let sink = AuditCollector()
        var log = AuditLog(capacity: 300)
        let target = Array("/".utf8)
        log.append(Self.entry, target: target.span)
        #expect(!log.isFull)
        log.append(Self.entry, target: target.span)
        #expect(log.isFull)
        log.flush(to: sink)
        log.flush(to: sink)
        #expect(sink.counts == [2])
    }

    private static let entry = AuditEntry(
        unixMilliseconds: 0, peer: "127.0.0.1", route: "/", method: "GET", identity: "default", generation: 1,
        status: 200)

    private static func lines(_ entries: [(AuditEntry, String)]) -> String {
        let sink = AuditCollector()
        var log = AuditLog()
        for (entry, target) in entries {
            let bytes = Array(target.utf8)
            log.append(entry, target: bytes.span)
        }
        log.flush(to: sink)
        return sink.text
    }
}

private final class AuditCollector: AuditSink {
    private let state = Mutex<(bytes: [UInt8], counts: [Int])>(([], []))

    var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }
    var counts: [Int] { state.withLock { $0.counts } }

    func write(_ lines: [UInt8], count: Int) {
        state.withLock {
            $0.bytes += lines
            $0.counts.append(count)
        }
    }
}
