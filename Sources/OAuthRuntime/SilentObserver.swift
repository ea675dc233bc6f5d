// SPDX-License-Identifier: Apache-2.0

public import OAuth

/// Ignores all events.
public struct SilentObserver: SessionObserver {
    /// An observer that ignores all events.
    public init() {}

    /// Does nothing.
    public func session(_ identity: String, reports event: SessionEvent) {}
}
