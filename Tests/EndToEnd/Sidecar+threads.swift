// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// The threads of a daemon.
extension Sidecar {
    /// Each with what it is called.
    var threads: [(id: Int32, name: String)] {
        let tasks = "/proc/\(bearerd.process.processID)/task"
        return TemporaryDirectory.entries(of: tasks).compactMap { entry in
            let name = TemporaryDirectory.contents(of: "\(tasks)/\(entry)/comm").dropLast()
            return Int32(entry).map { ($0, String(decoding: name, as: UTF8.self)) }
        }
    }

    func thread(named name: String) -> Int32? { threads.first { $0.name == name }?.id }

    /// How many descriptors are open.
    var descriptorCount: Int {
        TemporaryDirectory.entries(of: "/proc/\(bearerd.process.processID)/fd").count
    }
}
