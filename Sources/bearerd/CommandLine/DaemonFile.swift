// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPMessages

/// A configuration file as far as it is needed to ask the daemon that runs by it.
struct DaemonFile {
    /// The admin listener; nil where the file has none.
    let admin: AdminConfiguration?
    /// The file as a whole, which may have errors.
    let report: ConfigurationReport

    /// The data listeners; none where the file has errors.
    var listen: [ListenAddress] { report.configuration?.listen ?? [] }

    /// - Returns: nil if the file leaves open where the daemon listens.
    init?(_ report: ConfigurationReport) {
        switch report.adminListener {
        case .configured(let admin): self.admin = admin
        case .absent: admin = nil
        case .unreadable: return nil
        }
        self.report = report
    }

    /// Tells on standard error, in one line, that the file has errors; of what only the daemon can read nobody here knows.
    func warn() {
        let errors = report.problems.filter { $0.severity == .error && !$0.isDenial }
        guard let first = errors.first else { return }
        let place = "\(report.file):\(first.line):\(first.column)"
        let subject = first.path.isEmpty ? "" : "\(first.path): "
        let more = errors.count > 1 ? ", and \(errors.count - 1) more" : ""
        Console.complain(
            "warning: a reload or a restart would refuse \(place): \(subject)\(first.reason)\(more); "
                + "'bearerd check' tells all of it")
    }
}
