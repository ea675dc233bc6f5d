// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration

/// A check of `doctor`, made once or for each identity or route.
protocol DoctorCheck {
    static var id: CheckID { get }
    /// The checks, of the same identity or of the whole, whose failure makes this one meaningless.
    static var needs: [CheckID] { get }
    /// The checks whose failure this one would only repeat word for word.
    static var echoes: [CheckID] { get }
}

extension DoctorCheck {
    static var needs: [CheckID] { [] }
    static var echoes: [CheckID] { [] }
}

/// A check of the configuration, the machine or the process.
protocol WholeCheck: DoctorCheck {
    static func look(at subject: DoctorSubject) async -> Finding
}

/// A check of each identity and its provider.
protocol IdentityCheck: DoctorCheck {
    static func look(at identity: ExaminedIdentity, of subject: DoctorSubject) async -> Finding
}

/// A check of each route.
protocol RouteCheck: DoctorCheck {
    static func look(at route: RouteConfiguration, of subject: DoctorSubject) async -> Finding
}
