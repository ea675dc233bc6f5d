// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibcurl
internal import BearerdEventLoop

/// One easy handle in one ``CurlMulti``, with all that libcurl reads through pointers while it is there.
///
/// Confined to its loop's thread. Removed from the multi by ``end()`` or by its deinit, whichever is first.
final class CurlTransfer {
    /// How a transfer ended.
    enum Outcome: Sendable {
        /// Libcurl is done with it, well or not.
        case done(CURLcode)
        /// The task that waited for it was cancelled.
        case cancelled
        /// It was given up by ``CurlTransfer/expire()``.
        case expired
    }

    let easy: CurlEasy
    private let multi: CurlMulti
    /// What the handle's options point at.
    private let dependencies: [AnyObject]
    let attachments: CurlAttachments
    private var isAdded = false
    private var waiter: UnsafeContinuation<Outcome, Never>?

    /// - Parameters:
    ///   - attachments: what the options of `easy` point at; freed after it.
    ///   - dependencies: likewise.
    init(
        _ easy: consuming CurlEasy, attachments: CurlAttachments, dependencies: [AnyObject], multi: CurlMulti
    ) {
        self.easy = easy
        self.attachments = attachments
        self.dependencies = dependencies
        self.multi = multi
    }

    deinit { end() }

    /// Whether the connection is ready and its TLS handshake done: from then on the peer may know what is asked.
    var isSent: Bool { easy.microseconds(CURLINFO_PRETRANSFER_TIME_T) > 0 }

    /// Starts the transfer and waits for its end.
    ///
    /// Once only.
    ///
    /// - Parameter isolation: the caller's, which is to be the loop's.
    func run(isolation: isolated (any Actor)? = #isolation) async -> Outcome {
        let reference = LoopReference(self, loop: multi.loop)
        return await withTaskCancellationHandler {
            // A closure has the isolation that it captures: without, the task would leave the loop here.
            _ = isolation
            return await withUnsafeContinuation { start(resuming: $0) }
        } onCancel: {
            reference.post { $0.cancel() }
        }
    }

    private func start(resuming waiter: UnsafeContinuation<Outcome, Never>) {
        // A cancellation that came before found nothing to end; a later one is posted, and comes after this.
        guard !Task.isCancelled else { return waiter.resume(returning: .cancelled) }
        guard multi.add(self) else { return waiter.resume(returning: .done(CURLE_OUT_OF_MEMORY)) }
        isAdded = true
        self.waiter = waiter
    }

    /// Takes the handle out of the multi; a connection that it has left open is closed.
    ///
    /// Idempotent.
    func end() {
        guard isAdded else { return }
        isAdded = false
        multi.remove(self)
    }

    /// Called by the multi when libcurl is done.
    func finish(_ outcome: Outcome) {
        guard let waiter else { return }
        self.waiter = nil
        waiter.resume(returning: outcome)
    }

    /// Gives the transfer up, unless it has ended.
    func expire() {
        giveUp(.expired)
    }

    private func cancel() {
        giveUp(.cancelled)
    }

    private func giveUp(_ outcome: Outcome) {
        guard waiter != nil else { return }
        end()
        finish(outcome)
    }
}
