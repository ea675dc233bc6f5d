// SPDX-License-Identifier: Apache-2.0

import OAuth

/// Why a login failed, or nil if it did not.
func failure(_ body: () async throws(LoginError) -> Void) async -> LoginError? {
    do throws(LoginError) {
        try await body()
        return nil
    } catch {
        return error
    }
}
