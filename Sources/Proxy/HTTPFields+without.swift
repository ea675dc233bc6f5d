// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

extension HTTPFields {
    /// These fields without those of the given names.
    func without(_ names: [Name]) -> HTTPFields {
        guard !names.isEmpty else { return self }
        var fields = self
        for name in names { fields.remove(name) }
        return fields
    }
}
