// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Very many connections that are opened and closed without a word.
@Suite(.blocking) struct `A storm of silent connections` {
    @Test func `leaves none behind`() throws {
        let top = "workers: 1\ntimeouts:\n  header: 10m\n  idle: 10m"
        let sidecar = try Sidecar(.init(top: top))
        try sidecar.awaitToken()
        #expect(try sidecar.get().status == 200)
        sidecar.upstream.closeConnections()
        let address = try sidecar.bearerd.proxy
        let before = sidecar.bearerd.descriptorCount
        for _ in 0..<3 {
            _ = try concurrently(4) { _ in
                for _ in 0..<500 { _ = try Socket.connected(to: address) }
            }
        }
        try eventually("every connection to be seen to end") {
            try sidecar.metrics().sum("bearerd_open_connections") == 0
        }
        try eventually("every descriptor to be free") { sidecar.bearerd.descriptorCount <= before }
        #expect(try sidecar.get().status == 200)
    }
}
