// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPMessages

/// Whether an address could be listened at.
enum PortProbe {
    case free
    case taken
    case unusable(String)
    /// The address is any port, or nothing that can be tried.
    case unknown

    static func look(at address: ListenAddress) -> PortProbe {
        guard case .tcp(let host, let port) = address, port != 0 else { return .unknown }
        do throws(ListeningSocket.BindError) {
            for socket in try ListeningSocket.tcp(host: host, port: port, joining: false) { socket.close() }
            return .free
        } catch {
            return error.isInUse ? .taken : .unusable(error.reason)
        }
    }
}
