// SPDX-License-Identifier: Apache-2.0

/// The reason why a scalar is not a value of the expected kind; becomes a ``ConfigurationProblem``.
struct ValueError: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
