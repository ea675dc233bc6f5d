// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPMessages
import BearerdSystem

/// `systemd`: the facts about the unit that are visible from outside of it.
enum SystemdCheck: WholeCheck {
    static let id = CheckID.systemd

    static func look(at subject: DoctorSubject) -> Finding {
        guard (CurrentProcess.environment("NOTIFY_SOCKET") ?? "").isEmpty else {
            return .ok("the service manager is told of readiness, state and life")
        }
        let passed = subject.configuration.listen.filter(\.isPassed)
        let list = passed.map(\.description).joined(separator: ", ")
        return passed.isEmpty
            ? .skip("doctor was not started by a service manager")
            : .skip("\(list): only what the service manager starts gets these sockets")
    }
}
