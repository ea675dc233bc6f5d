// SPDX-License-Identifier: Apache-2.0

import Configuration
import System
import TokenStore

/// `store`: whether sessions can be locked and written there.
enum StoreCheck: WholeCheck {
    static let id = CheckID.store

    static func look(at patient: Patient) -> Finding {
        guard let directory = patient.configuration.store.directory else {
            return .skip("store.type is memory: sessions end with the daemon")
        }
        do throws(FileStoreError) {
            guard let place = try FileStore.examine(directory) else {
                return .ok("\(directory) is not there yet; the first session makes it")
            }
            return .ok("\(place): files can be locked and written")
        } catch {
            switch error {
            case .insecure: return .fail(error.description, fix: "chmod or chown what it names")
            case .foreign: return .fail(error.description, fix: "store.encryption_key")
            case .unusable:
                return .fail(error.description, fix: "store.directory, or its rights and its disk")
            }
        }
    }
}
