// SPDX-License-Identifier: Apache-2.0

import JSON

extension CommandFailure {
    /// What a refusal of the admin listener (RFC 9457) means to a command.
    init(refusal status: Int, _ body: [UInt8], of subject: String) {
        let problem = try? JSONValue(parsing: body).object
        let detail = problem?["detail"]?.string ?? "answered with status \(status)"
        let exitStatus: ExitStatus
        switch problem?["code"]?.string {
        case "login_required", "login_refused", "access_denied": exitStatus = .permission
        case "bad_id_token": exitStatus = .badData
        case "misconfigured": exitStatus = .configuration
        default: exitStatus = status == 403 || status == 421 ? .permission : .unavailable
        }
        self.init(exitStatus, "\(subject): \(detail)")
    }
}
