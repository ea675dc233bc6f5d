// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// One worker serves everybody, however much some have for it to do.
@Suite(.blocking) struct `Beside three clients that never wait` {
    /// Has `few` done while three clients of a kind go on.
    ///
    /// - Returns: whether it was done before they had moved all that they were to.
    private func isServed(
        beside bulk: BulkClient, _ progress: BulkClient.Progress, host: String,
        _ connect: @escaping @Sendable () throws -> any ByteStream, few: () throws -> Void
    ) throws -> Bool {
        let clients = (0..<3).map { _ in
            Background {
                let stream = try connect()
                do { try bulk.run(on: stream, host: host, progress) } catch is SocketError {}
                stream.close()
            }
        }
        try progress.awaitBegin()
        try few()
        let isInTime = !progress.hasReachedLimit
        progress.stop()
        for client in clients { try client.value() }
        return isInTime
    }

    private func expectAnswers(_ client: RawClient, _ target: String) throws {
        for _ in 0..<10 { #expect(try client.request("GET", target).status == 200) }
    }

    @Test(arguments: BulkClient.allCases)
    func `another one is answered`(bulk: BulkClient) throws {
        let progress = BulkClient.Progress(limit: bulk.limit)
        let sidecar = try Sidecar(upstream: BulkClient.upstream(progress), .init(top: "workers: 1"))
        try sidecar.awaitToken()
        let address = try sidecar.bearerd.proxy
        let client = try sidecar.client()
        let isInTime = try isServed(
            beside: bulk, progress, host: "\(address)", { try Socket.connected(to: address) }
        ) {
            try expectAnswers(client, "/")
            try expectAnswers(sidecar.client(), "/")
        }
        #expect(isInTime)
    }

    @Test(arguments: [BulkClient.upload, .download, .tunnelUp, .tunnelDown, .refused, .pipelined])
    func `another one is answered over TLS`(bulk: BulkClient) throws {
        let progress = BulkClient.Progress(limit: bulk.limit)
        let site = try SecureSite(upstream: BulkClient.upstream(progress), top: "workers: 1")
        try site.sidecar.awaitToken()
        let address = try site.sidecar.bearerd.proxy
        let (tls, client) = (try site.tls(), try site.client())
        let isInTime = try isServed(
            beside: bulk, progress, host: "localhost:\(address.port)", { try tls.connect(to: address) }
        ) {
            try expectAnswers(client, "/")
        }
        #expect(isInTime)
    }

    @Test func `the admin listener answers another one`() throws {
        let progress = BulkClient.Progress(limit: BulkClient.refused.limit)
        let sidecar = try Sidecar()
        let address = try sidecar.bearerd.admin
        let client = try RawClient(to: address)
        let isInTime = try isServed(
            beside: .refused, progress, host: "\(address)", { try Socket.connected(to: address) }
        ) {
            try expectAnswers(client, "/healthz")
        }
        #expect(isInTime)
    }
}
