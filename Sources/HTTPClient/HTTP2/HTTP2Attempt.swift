// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange

/// A connection that is being made, and those who wait for it.
///
/// It goes on when they leave: the next request has it then. Confined to its loop's thread.
final class HTTP2Attempt {
    /// The first words that are waited for of an upstream that has taken the connection; nil before it has.
    var awaited: UpstreamError.Greeting?
    private var result: Result<Bool, UpstreamError>?
    private var waiting: [LoopWait] = []

    func end(_ result: Result<Bool, UpstreamError>) {
        self.result = result
        let woken = waiting
        waiting = []
        woken.forEach { $0.wake() }
    }

    /// Waits for the end.
    ///
    /// - Parameter timeout: zero waits for ever.
    /// - Returns: false if the upstream has chosen HTTP/1.1.
    func outcome(within timeout: Duration, on loop: EventLoop) async throws(UpstreamError) -> Bool {
        if let result { return try result.get() }
        let end = LoopWait(loop: loop)
        waiting.append(end)
        defer { waiting.removeAll { $0 === end } }
        do throws(UpstreamError) {
            try await end.wait(within: timeout, orThrow: .connectionTimeout, on: loop)
        } catch {
            guard error == .connectionTimeout, let awaited else { throw error }
            throw .greetingTimeout(of: awaited)
        }
        guard let result else { throw .connectionTimeout }
        return try result.get()
    }
}

extension LoopWait {
    /// Waits for the first news, unless the task is cancelled meanwhile.
    ///
    /// - Parameters:
    ///   - timeout: zero waits for ever.
    ///   - failure: thrown when it is over.
    ///   - loop: whose thread this is called on.
    ///   - isolation: the caller's, which is to be the loop's.
    func wait(
        within timeout: Duration, orThrow failure: UpstreamError, on loop: EventLoop,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(UpstreamError) {
        let reference = LoopReference(self, loop: loop)
        let outcome: Result<Void, StreamError> = await withTaskCancellationHandler {
            _ = isolation  // as in CurlTransfer.run
            do throws(StreamError) {
                return .success(try await wait(after: 0, until: .after(timeout)))
            } catch {
                return .failure(error)
            }
        } onCancel: {
            reference.post { $0.interrupt() }
        }
        guard case .failure(let error) = outcome else { return }
        throw Task.isCancelled || error != .timedOut ? .cancelled : failure
    }
}
