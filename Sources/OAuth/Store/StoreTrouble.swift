// SPDX-License-Identifier: Apache-2.0

/// Something that the store could not do, and cannot yet.
struct StoreTrouble: Sendable {
    let error: StoreError
    /// When it could not be done for the first time.
    let since: WallTime
}

extension LastError {
    /// The trouble as people see it.
    init(_ trouble: StoreTrouble) {
        self.init(
            code: trouble.error.code, detail: trouble.error.reason, at: trouble.since, isAboutStore: true)
        storeError = trouble.error
    }
}
