// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI

extension CommandFailure {
    /// What a refusal of the admin listener (RFC 9457) means to a command.
    init(refusal status: Int, _ body: [UInt8], of subject: String) {
        let problem = AdminProblem(status: status, reading: body)
        let exitStatus: ExitStatus
        switch problem.code {
        case .loginRequired?, .loginRefused?, .accessDenied?: exitStatus = .permission
        case .badIDToken?: exitStatus = .badData
        case .misconfigured?: exitStatus = .configuration
        default: exitStatus = status == 403 || status == 421 ? .permission : .unavailable
        }
        self.init(exitStatus, "\(subject): \(problem.detail)")
    }
}
