// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration

/// `config-modes`: other users can neither read nor write the files that hold secrets.
enum ModesCheck: WholeCheck {
    static let id = CheckID.configModes

    static func look(at patient: Patient) -> Finding {
        guard let fault = patient.report.problems.first(where: \.isAboutModes) else {
            return .ok("nobody else may change the configuration, or read a secret")
        }
        return .warn(
            fault.line(in: patient.report.file),
            fix: "chmod 0600 the file that it names, and chown it to who runs bearerd")
    }
}
