// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdTestSupport
import Glibc
import Testing

/// How a way that is gone differs from a peer that has no room, where the kernel has nothing on its way in both cases.
@Suite(.blocking) struct `The acknowledgement of what was sent` {
    @Test func `is not waited for from a peer without room, unless it has stopped to answer`() async throws {
        try await onLoop { multis in
            let (listener, address) = try Socket.listening()
            let near = try Socket.connected(to: address)
            let far = try #require(listener.accept())
            let stream = BearerdEventLoop.ByteStream(
                wire: SocketWire(descriptor: near.descriptor, closesDescriptor: false),
                readiness: Readiness(descriptor: near.descriptor, loop: multis.loop), loop: multis.loop)
            let block = [UInt8](repeating: 0, count: 65_536)
            try await eventually(multis.loop, "a window that is shut") {
                while send(near.descriptor, block, block.count, Int32(MSG_NOSIGNAL)) > 0 {}
                return stream.untakenCount > 0 && !stream.awaitsAcknowledgement
            }
            try far.dropArrivals()
            try await eventually(multis.loop, "questions without an answer") { stream.awaitsAcknowledgement }
            #expect(stream.untakenCount > 0)
            stream.close()
            near.cut()
            far.cut()
        }
    }
}
