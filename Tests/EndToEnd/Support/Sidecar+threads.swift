// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

/// The threads of a daemon.
extension Sidecar {
    /// The threads with their numbers and names.
    var threads: [(id: Int32, name: String)] {
        let tasks = "/proc/\(bearerd.process.processID)/task"
        return TemporaryDirectory.entries(of: tasks).compactMap { entry in
            let name = TemporaryDirectory.contents(of: "\(tasks)/\(entry)/comm").dropLast()
            return Int32(entry).map { ($0, String(decoding: name, as: UTF8.self)) }
        }
    }

    func thread(named name: String) -> Int32? { threads.first { $0.name == name }?.id }

    /// The CPU time of all threads so far, in seconds.
    var processorSeconds: Double {
        let bytes = TemporaryDirectory.contents(of: "/proc/\(bearerd.process.processID)/stat")
        // Behind the name, which may have spaces: the 12th and 13th field are user and system time, in hundredths.
        let fields =
            String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
        return fields.count > 12 ? ((Double(fields[11]) ?? 0) + (Double(fields[12]) ?? 0)) / 100 : 0
    }

    /// How many descriptors are open.
    var descriptorCount: Int {
        TemporaryDirectory.entries(of: "/proc/\(bearerd.process.processID)/fd").count
    }
}
