// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdHTTPMessages
import BearerdSystem

/// `admin`: a daemon of ours answers at the admin listener's address, or the address is free.
enum AdminCheck: WholeCheck {
    static let id = CheckID.admin

    static func look(at subject: DoctorSubject) -> Finding {
        guard let admin = subject.configuration.admin else { return .skip("there is no admin listener") }
        switch subject.daemon {
        case .unasked(let reason): return .skip(reason)
        case .running(let status, _): return .ok("bearerd \(status.version) answers at \(admin.listen)")
        case .failed(let failure):
            var holder: PortHolder?
            if case .taken(let known) = PortProbe.look(at: admin.listen) { holder = known }
            return .fail(
                failure.message + (holder.map { "; \($0.words) has the port" } ?? ""),
                fix: PortProbe.mend(takenBy: holder, "admin.listen", of: subject))
        case .nobody: break
        }
        switch PortProbe.look(at: admin.listen) {
        case .free: return .ok("\(admin.listen) is free")
        case .unreachable(let holder):
            return .fail(PortProbe.words(on: holder, at: admin.listen), fix: "restart it")
        case .unknown: return .ok("no daemon answers at \(admin.listen)")
        case .taken(let holder):
            return .fail(
                "another program listens at \(admin.listen)\(holder.map { ": \($0.words)" } ?? "")",
                fix: "stop it, or give admin.listen another port")
        case .unusable(let reason):
            return .fail("\(admin.listen): \(reason)", fix: PortProbe.mend(of: admin.listen, "admin.listen"))
        }
    }
}
