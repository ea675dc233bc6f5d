// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdSystem

/// `descriptors`: there are enough descriptors for `limits.connections`.
enum DescriptorsCheck: WholeCheck {
    static let id = CheckID.descriptors

    static func look(at subject: DoctorSubject) -> Finding {
        try? CurrentProcess.raiseDescriptorLimit()
        let (wanted, free) = (subject.configuration.limits.connections, CurrentProcess.freeDescriptorCount)
        let limit = subject.configuration.connectionLimit(freeDescriptors: free)
        guard limit < wanted else { return .ok("\(free) are free, enough for \(wanted) connections") }
        return .warn(
            "\(free) are free: enough for \(limit) connections, not for limits.connections (\(wanted))",
            fix: "LimitNOFILE=, ulimit -Hn, or limits.connections: \(limit)")
    }
}
