// SPDX-License-Identifier: Apache-2.0

/// One line of doctor's report.
struct DoctorRow: Sendable {
    let id: CheckID
    /// Nil if the row belongs to no identity.
    let identity: String?
    let finding: Finding
    /// True for what a daemon says of a route's answers: what the route's own checks find is the cause.
    var isAboutRoute = false
    /// True if no route uses the identity, so that what is wrong with it comes last.
    var isAboutUnused = false

    /// How soon it is mended among others: causes come before what follows from them.
    var rank: Int { isAboutRoute ? Int.max : id.rank }
}
