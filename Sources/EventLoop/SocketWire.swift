// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// A plain socket: `recv`, `send` and `sendmsg`.
package final class SocketWire: Wire {
    private var descriptor: CInt
    private let closesDescriptor: Bool
    private var sendFlags = CInt(MSG_NOSIGNAL)

    /// - Parameter closesDescriptor: true if this object owns the descriptor.
    package init(descriptor: CInt, closesDescriptor: Bool = true) {
        self.descriptor = descriptor
        self.closesDescriptor = closesDescriptor
    }

    /// Starts over with another descriptor, after ``close()``.
    func begin(on descriptor: CInt) {
        self.descriptor = descriptor
        sendFlags = CInt(MSG_NOSIGNAL)
    }

    package var drainsOnShortReceive: Bool { true }

    package func receive(into destination: UnsafeMutableRawBufferPointer) -> WireResult {
        while true {
            let count = recv(descriptor, destination.baseAddress, destination.count, 0)
            if count > 0 { return .moved(count) }
            if count == 0 { return .end }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlockOnRead
            case let code: return .failed(StreamError(errno: code))
            }
        }
    }

    package func send(_ source: UnsafeRawBufferPointer) -> WireResult {
        while true {
            let count = Glibc.send(descriptor, source.baseAddress, source.count, sendFlags)
            if count >= 0 { return .moved(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlockOnWrite
            case let code: return .failed(StreamError(errno: code))
            }
        }
    }

    package func send(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ third: UnsafeRawBufferPointer
    ) -> WireResult {
        if second.isEmpty, third.isEmpty { return send(first) }
        return withUnsafeTemporaryAllocation(of: iovec.self, capacity: 3) { vectors in
            vectors[0] = iovec(
                iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count)
            vectors[1] = iovec(
                iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
            vectors[2] = iovec(
                iov_base: UnsafeMutableRawPointer(mutating: third.baseAddress), iov_len: third.count)
            var message = msghdr()
            message.msg_iov = vectors.baseAddress
            message.msg_iovlen = 3
            while true {
                let count = sendmsg(descriptor, &message, sendFlags)
                if count >= 0 { return .moved(count) }
                switch errno {
                case EINTR: continue
                case EAGAIN: return .wouldBlockOnWrite
                case let code: return .failed(StreamError(errno: code))
                }
            }
        }
    }

    /// True if data is held back for the end: `close` would drop it if unread bytes are left, `shutdown`
    /// would not.
    package var announcesEnd: Bool { sendFlags & CInt(MSG_MORE) != 0 }

    package func endFollows() { sendFlags |= CInt(MSG_MORE) }

    package func endSending() -> WireResult {
        shutdown(descriptor, CInt(SHUT_WR))
        return .moved(0)
    }

    package func resetOnClose() { Self.resetOnClose(descriptor) }

    /// Makes the kernel send a reset when `descriptor` is closed (socket(7), `SO_LINGER`).
    package static func resetOnClose(_ descriptor: CInt) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    package func close() {
        if closesDescriptor { _ = Glibc.close(descriptor) }
    }
}
