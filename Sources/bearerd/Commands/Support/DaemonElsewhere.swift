// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPMessages
import BearerdSystem

/// A daemon that has the data listeners of a configuration, and another admin listener than it names.
struct DaemonElsewhere {
    private let holder: PortHolder
    /// Where its requests come in.
    private let listen: ListenAddress
    /// Where it listens besides.
    private let others: [String]

    /// Looks for the daemon, as far as `/proc` tells.
    ///
    /// - Parameter listen: the data listeners of the configuration.
    /// - Returns: nil if no process called bearerd has one of them.
    init?(listening listen: [ListenAddress]) {
        for address in listen {
            let found: PortHolder? =
                switch address {
                case .tcp(let host, let port): port == 0 ? nil : PortHolder.of(host: host, port: port)
                case .unix(let path): PortHolder.of(path: path)
                case .systemd, .descriptor: nil
                }
            guard let holder = found, holder.command == "bearerd" else { continue }
            self.holder = holder
            self.listen = address
            let known = Set(listen.map(\.description))
            others = holder.addresses.filter { !known.contains($0) }
            return
        }
        return nil
    }

    /// The advice where no daemon answers.
    ///
    /// - Parameter listen: the data listeners of the configuration.
    static func advice(listening listen: [ListenAddress]) -> String {
        DaemonElsewhere(listening: listen)?.words ?? "'bearerd run' begins one"
    }

    /// Which daemon it is, and which of the listeners it has.
    var holding: String { "\(holder.words) has \(listen) (listen)" }

    /// Which daemon it is, and what to do.
    var words: String {
        let place =
            others.isEmpty ? "" : ", perhaps \(others.prefix(4).joined(separator: " or "))"
        return
            "\(holding), and runs by another admin.listen\(place): restart it to have "
            + "this one in force, or change admin.listen back"
    }
}
