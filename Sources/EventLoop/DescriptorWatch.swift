// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibevent

/// Reports when a descriptor is ready, again and again while it stays so (level-triggered), as libcurl
/// expects.
///
/// Our own streams use ``Readiness``. Confined to its loop's thread.
package final class DescriptorWatch {
    /// The directions to watch, or those that are ready.
    package struct Directions: OptionSet, Sendable {
        package let rawValue: UInt8
        package static let reading = Directions(rawValue: 1)
        package static let writing = Directions(rawValue: 2)

        package init(rawValue: UInt8) { self.rawValue = rawValue }
    }

    private var event: OpaquePointer?
    private let action: (Directions) -> Void

    /// - Parameters:
    ///   - descriptor: non-blocking, and open for as long as this object lives.
    ///   - action: called on the loop's thread with the directions that are ready; it may release this
    ///     object.
    /// - Returns: nil if the kernel cannot watch the descriptor (epoll_ctl(2)).
    package init?(
        descriptor: Int32, directions: Directions, loop: EventLoop, action: @escaping (Directions) -> Void
    ) {
        self.action = action
        var flags = EV_PERSIST
        if directions.contains(.reading) { flags |= EV_READ }
        if directions.contains(.writing) { flags |= EV_WRITE }
        let context = Unmanaged.passUnretained(self).toOpaque()  // freed in deinit: no callback outlives us
        event = loop.makeEvent(
            descriptor: descriptor, flags: flags, callback: onDescriptorReady, context: context)
        guard let event, event_add(event, nil) == 0 else { return nil }
    }

    deinit { if let event { event_free(event) } }

    fileprivate func ready(_ what: CShort) {
        var directions: Directions = []
        if what & CShort(EV_READ) != 0 { directions.insert(.reading) }
        if what & CShort(EV_WRITE) != 0 { directions.insert(.writing) }
        action(directions)
    }
}

private func onDescriptorReady(_: CInt, _ what: CShort, _ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    let watch = Unmanaged<DescriptorWatch>.fromOpaque(context).takeUnretainedValue()
    withExtendedLifetime(watch) { watch.ready(what) }
}
