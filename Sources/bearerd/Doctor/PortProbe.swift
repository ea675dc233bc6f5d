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
    /// A process listens on a Unix socket whose name is gone, or leads to something else.
    case unreachable(PortHolder)
    case unusable(String)
    /// The address has no fixed port, or cannot be tried.
    case unknown

    static func look(at address: ListenAddress) -> PortProbe {
        switch address {
        case .tcp(_, 0), .systemd, .descriptor: return .unknown
        case .tcp(let host, let port):
            do throws(ListeningSocket.BindError) {
                for socket in try ListeningSocket.tcp(host: host, port: port, joining: false) {
                    socket.close()
                }
                return .free
            } catch {
                return error.isInUse ? .taken(PortHolder.of(host: host, port: port)) : .unusable(error.reason)
            }
        case .unix(let path):
            do throws(ListeningSocket.BindError) {
                guard let process = try ListeningSocket.listener(at: path) else {
                    return PortHolder.of(path: path).map { .unreachable($0) } ?? .free
                }
                return .taken(PortHolder.of(process: process))
            } catch {
                // The daemon may have a user and directories of its own.
                return error.isDenied ? .unknown : .unusable(error.reason)
            }
        }
    }

    /// The words on a process that listens on a socket without its name.
    static func words(on holder: PortHolder, at address: ListenAddress) -> String {
        "\(holder.words) listens on \(address), whose name is gone or leads elsewhere: nobody can connect"
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
        guard case .tcp(let host, let port) = address else { return "the path in \(key), or what is there" }
        return port < 1024 && CurrentProcess.effectiveUser != 0
            ? "another port in \(key), or CAP_NET_BIND_SERVICE (AmbientCapabilities= of a unit)"
            : "another address in \(key): ip address shows those of this machine, and \(host) has to be one"
    }
}
