// SPDX-License-Identifier: Apache-2.0

/// Why a scalar is not a value of the kind that is due; the words become a ``ConfigurationProblem``.
struct ValueError: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
