// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration

/// `config-modes`: other users can neither read nor write the files that hold secrets.
enum ModesCheck: WholeCheck {
    static let id = CheckID.configModes

    static func look(at subject: DoctorSubject) -> Finding {
        guard let fault = subject.report.problems.first(where: \.isAboutModes) else {
            return .ok("nobody else may change the configuration, or read a secret")
        }
        return .warn(
            fault.line(in: subject.report.file),
            fix: "chmod 0600 the file that it names, and chown it to who runs bearerd")
    }
}
