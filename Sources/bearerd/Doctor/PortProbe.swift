// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdEventLoop
import BearerdHTTPMessages
import BearerdSystem

/// The result of trying to listen on an address.
enum PortProbe {
    case free
    /// Somebody listens there already; nil where the system does not tell who.
    case taken(PortHolder?)
    case unusable(String)
    /// The address has no fixed port, or cannot be tried.
    case unknown

    static func look(at address: ListenAddress) -> PortProbe {
        guard case .tcp(let host, let port) = address, port != 0 else { return .unknown }
        do throws(ListeningSocket.BindError) {
            for socket in try ListeningSocket.tcp(host: host, port: port, joining: false) { socket.close() }
            return .free
        } catch {
            return error.isInUse ? .taken(PortHolder.of(host: host, port: port)) : .unusable(error.reason)
        }
    }

    /// The remedy for a port that another process has.
    ///
    /// - Parameter subject: tells whether that is a daemon of the configuration that does not answer.
    static func mend(takenBy holder: PortHolder?, _ key: String, of subject: DoctorSubject) -> String {
        if case .failed(let failure) = subject.daemon, failure.status == .unavailable,
            let process = holder?.process, holder?.command == "bearerd",
            let admin = subject.configuration.admin, case .taken(holder) = look(at: admin.listen)
        {
            return "restart it; where it stands still, kill -9 \(process) ends it"
        }
        return "stop it, or give \(key) another port"
    }

    /// The remedy for an address that cannot be listened on.
    static func mend(of address: ListenAddress, _ key: String) -> String {
        guard case .tcp(let host, let port) = address else { return "another address in \(key)" }
        return port < 1024 && CurrentProcess.effectiveUser != 0
            ? "another port in \(key), or CAP_NET_BIND_SERVICE (AmbientCapabilities= of a unit)"
            : "another address in \(key): ip address shows those of this machine, and \(host) has to be one"
    }
}
