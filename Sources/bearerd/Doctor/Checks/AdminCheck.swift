// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdHTTPMessages

/// `admin`: whether a daemon of ours answers there, or the address is free for one.
enum AdminCheck: WholeCheck {
    static let id = CheckID.admin

    static func look(at patient: Patient) async -> Finding {
        guard let admin = patient.configuration.admin else { return .skip("there is no admin listener") }
        do throws(CommandFailure) {
            guard let client = AdminClient(admin, loop: patient.loop) else {
                return .skip("\(admin.listen): nobody knows its port before it is open")
            }
            if let status = try await client.status() {
                return .ok("bearerd \(status.version) answers at \(admin.listen)")
            }
        } catch {
            return .fail(error.message, fix: "stop what listens there, or give admin.listen another port")
        }
        switch PortProbe.look(at: admin.listen) {
        case .free: return .ok("\(admin.listen) is free")
        case .unknown: return .ok("no daemon answers at \(admin.listen)")
        case .taken:
            return .fail("another program listens at \(admin.listen)", fix: "stop it, or admin.listen")
        case .unusable(let reason): return .fail("\(admin.listen): \(reason)", fix: "admin.listen")
        }
    }
}
