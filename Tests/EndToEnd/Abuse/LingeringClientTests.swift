// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Clients that have been refused and go on sending.
@Suite(.blocking) struct `Refused clients that send on` {
    private static let count = 300
    private static let largeFields = String(
        repeating: "X-Large: " + String(repeating: "a", count: 8_000) + "\r\n", count: 7)
    private static let length = "Content-Length: 100000000\r\n\r\n"

    /// What is sent, all at once, by a client that will be refused.
    enum Request: CaseIterable {
        /// For another host.
        case small
        /// The same with a large head.
        case wrongHost
        /// More of a head than is taken.
        case endlessHead
        /// A body of which a large head says that it is too large.
        case largeBody

        func text(host: Address) -> String {
            let end =
                switch self {
                case .small: length
                case .wrongHost, .largeBody: largeFields + length
                case .endlessHead: largeFields + largeFields
                }
            return "POST / HTTP/1.1\r\nHost: \(self == .largeBody ? "\(host)" : "evil.test")\r\n\(end)"
        }

        var status: Int {
            switch self {
            case .small, .wrongHost: 421
            case .endlessHead: 431
            case .largeBody: 413
            }
        }
    }

    /// Serves so many clients, whose bytes have all arrived before the first is looked at.
    ///
    /// - Returns: the most memory that bearerd has had so far.
    private func peak(of sidecar: Sidecar, _ request: Request, sendingOn more: String = "") throws -> Int {
        sidecar.bearerd.process.signal(SIGSTOP)
        let text = request.text(host: try sidecar.bearerd.proxy) + more
        let clients = try (0..<Self.count).map { _ in
            let client = try sidecar.client()
            try client.wire.send(text)
            return client
        }
        sidecar.bearerd.process.signal(SIGCONT)
        for client in clients { #expect(try client.wire.readResponse(to: "POST").status == request.status) }
        for client in clients { try? client.wire.send("more") }
        #expect(try sidecar.get().status == 200)
        return sidecar.bearerd.peakResidentBytes
    }

    @Test(.enabled(if: !Sanitizer.isOn), arguments: Request.allCases)
    func `cost hardly more memory than those that say little`(request: Request) throws {
        let sidecar = try Sidecar(
            .init(top: "workers: 1\nlimits: {body_bytes: 1MiB}\nlog: {access: false}"))
        let baseline = try peak(of: sidecar, .small)
        let peak = try peak(of: sidecar, request, sendingOn: String(repeating: "x", count: 256 << 10))
        #expect(Double(peak) < Double(baseline) * 1.15, "\(peak >> 10) KiB after \(baseline >> 10) KiB")
    }
}
