// SPDX-License-Identifier: Apache-2.0

/// One line of doctor's report.
struct DoctorRow: Sendable {
    let id: CheckID
    /// Nil if the row belongs to no identity.
    let identity: String?
    let finding: Finding
}
