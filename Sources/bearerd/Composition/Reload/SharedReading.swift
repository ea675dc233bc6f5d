// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import Synchronization

/// Reads something once for all who ask for it while it is read.
///
/// So what does not answer takes one thread, however often it is asked for.
final class SharedReading<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let executor: FileExecutor
    private let underWay = Mutex<[Key: Task<Value, Never>]>([:])

    init(on executor: FileExecutor) { self.executor = executor }

    /// The value that `read` returns, or that an earlier call's does which has not returned yet.
    ///
    /// That one may have opened a file that has been replaced since.
    func value(of key: Key, _ read: @escaping @Sendable () -> Value) async -> Value {
        let reading = underWay.withLock { underWay in
            if let known = underWay[key] { return known }
            let reading = Task(executorPreference: executor) { [self] in
                let value = read()
                self.underWay.withLock { $0[key] = nil }
                return value
            }
            underWay[key] = reading
            return reading
        }
        return await reading.value
    }
}
