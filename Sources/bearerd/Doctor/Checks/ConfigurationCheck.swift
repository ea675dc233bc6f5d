// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration

/// `config`: the configuration is usable, without which nothing else can be checked.
enum ConfigurationCheck {
    static func look(at report: ConfigurationReport) -> Finding {
        let advice = "bearerd check -c \(report.file)"
        guard let configuration = report.configuration else {
            let errors = report.problems.filter { $0.severity == .error }
            let mayBeSound = errors.allSatisfy(\.isDenial)
            return .fail(
                tell(errors, of: report),
                fix: mayBeSound ? "bearerd doctor -c \(report.file) as a user who may read that" : advice)
        }
        let faults = report.problems.filter { !$0.isAboutModes }
        guard faults.isEmpty else { return .warn(tell(faults, of: report), fix: advice) }
        let (identities, routes) = (configuration.identities.count, configuration.distinctRoutes.count)
        return .ok(
            "\(report.file) is read: \(identities) \(identities == 1 ? "identity" : "identities"), "
                + "\(routes) \(routes == 1 ? "route" : "routes")")
    }

    /// The first problem, and the number of further ones.
    private static func tell(_ problems: [ConfigurationProblem], of report: ConfigurationReport) -> String {
        let first = problems.first?.line(in: report.file) ?? report.file
        return problems.count > 1 ? "\(first), and \(problems.count - 1) more" : first
    }
}
