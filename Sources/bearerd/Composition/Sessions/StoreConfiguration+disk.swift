// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdTokenStore

extension StoreConfiguration {
    /// The reason why nothing can be written where the sessions are, and what helps; nil if it can, or none are in files.
    var diskTrouble: String? {
        guard let directory else { return nil }
        do throws(FileStoreError) {
            _ = try StoreDirectory.examine(directory)
            return nil
        } catch {
            return CommandFailure(error).message
        }
    }
}
