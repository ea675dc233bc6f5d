// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

extension SystemError {
    /// Why a file could not be read, as the rest of a sentence that begins with its path, and whether the sandbox hides it.
    func reason(reading path: String) -> (words: String, isHidden: Bool) {
        guard isPermission, Sandbox.hides(path) else {
            return ("cannot be read: \(SystemError.text(of: code))", false)
        }
        return ("leads to a place that \(Sandbox.rule)", true)
    }
}
