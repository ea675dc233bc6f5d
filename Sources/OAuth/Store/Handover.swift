// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A value that one task gives and another one waits for, cancelled or not.
final class Handover<Value: Sendable>: Sendable {
    private enum Progress {
        case pending
        case awaited(CheckedContinuation<Value, Never>)
        case given(Value)
    }

    private let progress = Mutex<Progress>(.pending)

    /// Gives the value; only the first one counts.
    func give(_ value: Value) {
        let waiter = progress.withLock { progress -> CheckedContinuation<Value, Never>? in
            switch progress {
            case .pending:
                progress = .given(value)
                return nil
            case .awaited(let waiter):
                progress = .given(value)
                return waiter
            case .given:
                return nil
            }
        }
        waiter?.resume(returning: value)
    }

    /// Waits for the value; one task waits, once.
    func value(isolation: isolated (any Actor)? = #isolation) async -> Value {
        await withCheckedContinuation { waiter in
            let given = progress.withLock { progress -> Value? in
                if case .given(let value) = progress { return value }
                progress = .awaited(waiter)
                return nil
            }
            if let given { waiter.resume(returning: given) }
        }
    }
}
