// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Bodies over TLS are streamed like any others.
@Suite(.blocking) struct `Bodies over TLS` {
    @Test func `arrive unchanged both ways, also at once`() throws {
        let upstream = try RawUpstream(script: { wire in
            let head = try #require(try wire.readHead())
            let total = try #require(head["Content-Length"].flatMap(Int.init))
            try wire.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
            var left = total
            while left > 0 {
                let piece = try wire.readSome()
                if piece.isEmpty { return }
                left -= piece.count
                try wire.send(piece)
            }
        })
        let site = try SecureSite(upstream: upstream)
        let body = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let client = try site.client()
        let host = "localhost:\(try site.sidecar.bearerd.proxy.port)"
        let writer = Background {
            try client.wire.send("POST / HTTP/1.1\r\nHost: \(host)\r\nContent-Length: \(body.count)\r\n\r\n")
            try client.wire.send(body)
        }
        let answer = try client.wire.readResponse()
        try writer.value()
        #expect(answer.body == body && answer.isComplete)
    }

    @Test func `go no faster than their reader, in bounded memory`() throws {
        let written = Monitor(0)
        let total = 64 << 20
        let upstream = try RawUpstream { request in
            guard request.head.target == "/big" else { return .ok() }
            return Reply { wire in
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
                let block = (0..<(1 << 16)).map { UInt8(truncatingIfNeeded: $0 >> 4) }
                for _ in 0..<(total / block.count) {
                    try wire.send(block)
                    written.withLock { $0 += block.count }
                }
                return true
            }
        }
        let site = try SecureSite(upstream: upstream)
        for _ in 0..<8 { #expect(try site.get().status == 200) }
        let before = site.sidecar.bearerd.residentBytes
        let client = try site.client(receiveBuffer: 8192)
        try client.send("GET", "/big")
        _ = try client.wire.readHead()
        try written.awaitStandstill(of: "the upstream")
        #expect(written.withLock { $0 } < total * 3 / 4)
        #expect(site.sidecar.bearerd.residentBytes - before < 8 << 20 || Sanitizer.isOn)
        var received = 0
        var isRight = true
        while received < total {
            let piece = try client.wire.readSome()
            guard !piece.isEmpty else { break }
            isRight = isRight && piece[0] == UInt8(truncatingIfNeeded: (received & 0xFFFF) >> 4)
            received += piece.count
        }
        #expect(received == total && isRight)
        #expect(site.sidecar.bearerd.residentBytes - before < 8 << 20 || Sanitizer.isOn)
    }
}
