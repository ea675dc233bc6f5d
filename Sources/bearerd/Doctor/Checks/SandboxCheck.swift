// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdSystem

/// `sandbox`: the daemon can sandbox itself.
enum SandboxCheck: WholeCheck {
    static let id = CheckID.sandbox

    static func look(at subject: DoctorSubject) -> Finding {
        guard !subject.configuration.runsCommands else {
            return .warn(
                "off: the commands of on_state_change could not run in it", fix: "leave on_state_change out")
        }
        guard let version = Sandbox.version else {
            return .warn(
                "the kernel has no Landlock", fix: "Linux 5.13 or later, with lsm=landlock at its start")
        }
        return .ok("Landlock \(version)\(version < Sandbox.versionForPorts ? ", for files alone" : "")")
    }
}
