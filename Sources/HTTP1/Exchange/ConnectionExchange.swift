// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTPExchange

/// An exchange with an HTTP/1.1 connection of its own, so that ending or waking one does the same to the
/// other.
package protocol ConnectionExchange: MessageExchange
where Incoming == MessageBody, Outgoing == MessageWriter {
    var stream: ByteStream { get }
}

extension ConnectionExchange {
    package var isOpen: Bool { stream.isOpen }

    package func abort() { stream.abort() }

    package func stopReceiving() { stream.readiness.interruptReader() }

    package func resumeReceiving() { stream.readiness.forgetInterruption() }

    package func endSending(within timeout: Duration) async -> Bool {
        guard stream.canEndSending else { return false }
        await stream.endSending(within: timeout)
        return true
    }

    package func finish(within timeout: Duration) async { await stream.finish(within: timeout) }
}
