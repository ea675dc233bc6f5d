// SPDX-License-Identifier: Apache-2.0

public import OAuth

/// Hears everything and says nothing.
public struct SilentObserver: SessionObserver {
    /// An observer for programs that do not care.
    public init() {}

    /// Does nothing.
    public func session(_ identity: String, reports event: SessionEvent) {}
}
