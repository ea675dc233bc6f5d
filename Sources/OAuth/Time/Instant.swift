// SPDX-License-Identifier: Apache-2.0

/// A moment of the clock that judges expiry: `CLOCK_BOOTTIME`, which goes on while the machine sleeps.
public typealias Instant = ContinuousClock.Instant
