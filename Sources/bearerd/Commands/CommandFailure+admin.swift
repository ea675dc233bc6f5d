// SPDX-License-Identifier: Apache-2.0

import Admin
import JSON

extension CommandFailure {
    /// What a refusal of the admin listener (RFC 9457) means to a command.
    init(refusal status: Int, _ body: [UInt8], of subject: String) {
        let problem = try? JSONValue(parsing: body).object
        let detail = problem?["detail"]?.string ?? "answered with status \(status)"
        let exitStatus: ExitStatus
        switch problem?["code"]?.string.map(ProblemCode.init(rawValue:)) {
        case .loginRequired?, .loginRefused?, .accessDenied?: exitStatus = .permission
        case .badIDToken?: exitStatus = .badData
        case .misconfigured?: exitStatus = .configuration
        default: exitStatus = status == 403 || status == 421 ? .permission : .unavailable
        }
        self.init(exitStatus, "\(subject): \(detail)")
    }
}
