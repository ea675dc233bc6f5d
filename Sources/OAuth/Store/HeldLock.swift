// SPDX-License-Identifier: Apache-2.0

/// The store's lock on one identity, from when it was had until ``release()``.
///
/// Whoever has it may end the work that it was taken for and keep the lock: see ``SessionFamily/keptLock``.
struct HeldLock: Sendable {
    /// The right to write.
    let lease: any StoreLease
    private let end: Handover<Void>
    private let holder: Task<Void, Never>

    /// - Parameters:
    ///   - end: what `holder` waits for.
    ///   - holder: runs in the body of ``SessionStore/withLock(_:waitingAtMost:isolation:_:)``.
    init(lease: any StoreLease, end: Handover<Void>, holder: Task<Void, Never>) {
        self.lease = lease
        self.end = end
        self.holder = holder
    }

    /// Lets others in; returns when they can come.
    func release(isolation: isolated (any Actor)? = #isolation) async {
        end.give(())
        await holder.value
    }
}
