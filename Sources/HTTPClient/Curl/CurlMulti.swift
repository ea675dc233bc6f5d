// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import CBearerdLibcurl

/// libcurl's multi interface, driven by an ``EventLoop`` and confined to its thread.
///
/// Each ``CurlTransfer`` in it keeps it alive, so it is cleaned up after the last one.
final class CurlMulti {
    let loop: EventLoop
    /// The easy handles in it, running or connected.
    private(set) var handleCount = 0

    private let handle: UnsafeMutableRawPointer
    private var watches: [Int32: DescriptorWatch] = [:]
    private var running: [UnsafeMutableRawPointer: CurlTransfer] = [:]
    private lazy var timer = LoopTimer(loop: loop) { [unowned self] in  // `self` owns the timer
        drive(descriptor: CURL_SOCKET_TIMEOUT, directions: [])
    }

    /// - Throws: ``CurlError`` if memory or descriptors are short.
    init(loop: EventLoop) throws(CurlError) {
        guard let handle = curl_multi_init() else { throw CurlError(CURLE_OUT_OF_MEMORY) }
        self.loop = loop
        self.handle = handle
        // Cleaned up in deinit: no callback outlives us.
        let context = Unmanaged.passUnretained(self).toOpaque()
        bearerd_multi_setopt_socket_function(handle, onSocketInterest)
        bearerd_multi_setopt_pointer(handle, CURLMOPT_SOCKETDATA, context)
        bearerd_multi_setopt_timer_function(handle, onTimerChange)
        bearerd_multi_setopt_pointer(handle, CURLMOPT_TIMERDATA, context)
        // Connections in use are never pushed out of libcurl's cache, but there is no reason to come near its bound.
        bearerd_multi_setopt_long(handle, CURLMOPT_MAXCONNECTS, 1_024)
    }

    deinit {
        bearerd_multi_setopt_socket_function(handle, nil)
        bearerd_multi_setopt_timer_function(handle, nil)
        curl_multi_cleanup(handle)
    }

    /// Starts a transfer; its end is reported by ``CurlTransfer/finish(_:)``, never within this call.
    ///
    /// - Returns: false if memory is short.
    func add(_ transfer: CurlTransfer) -> Bool {
        loop.checkIsolated()
        guard curl_multi_add_handle(handle, transfer.easy.handle) == CURLM_OK else { return false }
        handleCount += 1
        running[transfer.easy.handle] = transfer
        return true
    }

    /// Ends a transfer at once, or closes the connection that it left open.
    ///
    /// Call it once for each transfer that was added.
    func remove(_ transfer: CurlTransfer) {
        running[transfer.easy.handle] = nil
        curl_multi_remove_handle(handle, transfer.easy.handle)
        handleCount -= 1
    }

    // MARK: libcurl's side: never calls libcurl back

    fileprivate func socketInterest(
        _ what: CInt, in descriptor: Int32, of easy: UnsafeMutableRawPointer?
    ) {
        // A changed interest is a new watch; it ends the old one first, or its descriptor would be watched twice.
        watches[descriptor] = nil
        var directions: DescriptorWatch.Directions = []
        if what == CURL_POLL_IN || what == CURL_POLL_INOUT { directions.insert(.reading) }
        if what == CURL_POLL_OUT || what == CURL_POLL_INOUT { directions.insert(.writing) }
        guard !directions.isEmpty else { return }
        let watch = DescriptorWatch(
            descriptor: descriptor, directions: directions, loop: loop
        ) { [unowned self] in  // `self` owns the watch
            drive(descriptor: descriptor, directions: $0)
        }
        watches[descriptor] = watch
        // Nobody would ever tell of it. Who waits for the transfer goes on after this, and takes it out of here.
        if watch == nil, let easy { running.removeValue(forKey: easy)?.finish(.done(CURLE_OUT_OF_MEMORY)) }
    }

    fileprivate func timerChanged(to delay: Duration?) {
        if let delay { timer.set(after: delay) } else { timer.cancel() }
    }

    // MARK: The loop's side: readiness goes in, finished transfers come out

    private func drive(descriptor: Int32, directions: DescriptorWatch.Directions) {
        withExtendedLifetime(self) {  // the last transfer may end, and let go of us, below
            var what: CInt = 0
            if directions.contains(.reading) { what |= CURL_CSELECT_IN }
            if directions.contains(.writing) { what |= CURL_CSELECT_OUT }
            var runningCount: CInt = 0
            curl_multi_socket_action(handle, descriptor, what, &runningCount)
            finishTransfers()
        }
    }

    private func finishTransfers() {
        var waiting: CInt = 0
        while let message = curl_multi_info_read(handle, &waiting)?.pointee {
            guard message.msg == CURLMSG_DONE, let easy = message.easy_handle else { continue }
            running.removeValue(forKey: easy)?.finish(.done(message.data.result))
        }
    }
}

private func onSocketInterest(
    _ easy: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t, _ what: CInt,
    _ context: UnsafeMutableRawPointer?,
    _: UnsafeMutableRawPointer?
) -> CInt {
    guard let context else { return -1 }
    Unmanaged<CurlMulti>.fromOpaque(context).takeUnretainedValue().socketInterest(
        what, in: descriptor, of: easy)
    return 0
}

private func onTimerChange(
    _: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> CInt {
    guard let context else { return -1 }
    let delay: Duration? = milliseconds < 0 ? nil : .milliseconds(milliseconds)
    Unmanaged<CurlMulti>.fromOpaque(context).takeUnretainedValue().timerChanged(to: delay)
    return 0
}
