// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdHTTPMessages
import BearerdSystem

/// `listen`: whether each data listener's address is free, or the running daemon has it.
enum ListenCheck: WholeCheck {
    static let id = CheckID.listen

    static func look(at subject: DoctorSubject) -> Finding {
        let listeners = subject.configuration.listeners
        var seen: [String] = []
        for (index, listener) in listeners.enumerated() {
            let address = listener.address
            let key = listeners.count > 1 ? "listen[\(index)]" : "listen"
            switch PortProbe.look(at: address) {
            case .free: seen.append("\(address) is free, for \(listener.spokenProtocols)")
            case .unknown: seen.append("\(address) is not tried")
            case .unusable(let reason):
                return .fail("\(address): \(reason)", fix: PortProbe.mend(of: address, key))
            case .unreachable(let holder):
                return .fail(
                    PortProbe.words(on: holder, at: address), fix: "bearerd reload, which binds it anew")
            case .taken(let holder):
                guard let daemon = subject.daemon.status,
                    holder?.process == nil || holder?.process == daemon.daemon?.processID
                else {
                    return .fail(
                        "\(address) is taken by \(holder?.words ?? "another program")",
                        fix: PortProbe.mend(takenBy: holder, key, of: subject))
                }
                seen.append("\(address) is the running daemon's, for \(listener.spokenProtocols)")
            }
        }
        return .ok(seen.joined(separator: "; "))
    }
}
