// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import CBearerdLibcurl

/// One easy handle in a ``CurlMulti``, with everything that libcurl reads through pointers meanwhile.
///
/// Confined to its loop's thread. ``end()`` removes it from the multi, or else its deinit.
final class CurlTransfer {
    /// The way in which a transfer ended.
    enum Outcome: Sendable {
        /// libcurl has finished it, with success or an error.
        case done(CURLcode)
        /// The waiting task was cancelled.
        case cancelled
        /// ``CurlTransfer/expire()`` ended it.
        case expired
    }

    let easy: CurlEasy
    private let multi: CurlMulti
    /// Other objects to which the handle's options point.
    private let dependencies: [AnyObject]
    let attachments: CurlAttachments
    private var isAdded = false
    private var waiter: UnsafeContinuation<Outcome, Never>?

    /// - Parameters:
    /// - attachments: the targets of the options of `easy`; freed after it.
    ///   - dependencies: further targets, freed after it too.
    init(
        _ easy: consuming CurlEasy, attachments: CurlAttachments, dependencies: [AnyObject], multi: CurlMulti
    ) {
        self.easy = easy
        self.attachments = attachments
        self.dependencies = dependencies
        self.multi = multi
    }

    deinit { end() }

    /// True once the connection is ready and its TLS handshake done, so that the server may have seen the
    /// request.
    var isSent: Bool { easy.microseconds(CURLINFO_PRETRANSFER_TIME_T) > 0 }

    /// Starts the transfer and waits for its end; call it once only.
    ///
    /// - Parameter isolation: the caller's actor, which runs on the loop.
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

    /// Removes the handle from the multi and closes a connection that it left open; calling it again does
    /// nothing.
    func end() {
        guard isAdded else { return }
        isAdded = false
        multi.remove(self)
    }

    /// Called by the multi when libcurl has finished the transfer.
    func finish(_ outcome: Outcome) {
        guard let waiter else { return }
        self.waiter = nil
        waiter.resume(returning: outcome)
    }

    /// Ends the transfer as expired, unless it has ended already.
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
