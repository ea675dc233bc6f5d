// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI

extension CommandFailure {
    /// The failure of a command whose request the admin listener refused (RFC 9457).
    init(refusal status: Int, _ body: [UInt8], of subject: String) {
        let problem = AdminProblem(status: status, reading: body)
        let exitStatus: ExitStatus
        switch problem.code {
        case .loginRequired?, .loginRefused?, .accessDenied?: exitStatus = .permission
        case .badIDToken?, .spentImport?: exitStatus = .badData
        case .misconfigured?: exitStatus = .configuration
        case .loginOutdone?: exitStatus = .inputOutput
        default: exitStatus = status == 403 || status == 421 ? .permission : .unavailable
        }
        self.init(exitStatus, "\(subject): \(problem.detail)")
    }
}
