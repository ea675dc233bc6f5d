// SPDX-License-Identifier: Apache-2.0

import OAuth
import System

/// The directory of a store that is open: whoever administers the machine may put another one in its place.
struct StorePlace {
    private let directory: String
    /// nil if it could not be looked at, so that nothing is said of it.
    private let original: FileFingerprint?

    /// - Parameter directory: as it is when the store is opened.
    init(_ directory: String) {
        self.directory = directory
        original = (try? FileSystem.status(of: directory))?.fingerprint
    }

    /// Makes sure that files of ours belong there: else a missing file would be taken for a session that ended.
    ///
    /// It is not made anew: that would be in the way of somebody who is just putting a backup there.
    func check() throws(StoreError) {
        let status: FileStatus?
        do throws(SystemError) {
            status = try FileSystem.status(of: directory)
        } catch {
            throw failure(error)
        }
        guard let status else {
            throw .unavailable(
                "\(directory) is gone: put it back, or make an empty one (mkdir -m 700), which is filled again"
            )
        }
        if let problem = StoreDirectory.problem(withDirectory: status) {
            throw .unavailable("\(directory) \(problem)")
        }
    }

    /// What a failed call means.
    func failure(_ error: SystemError) -> StoreError {
        guard error.isPermission, let original,
            let present = (try? FileSystem.status(of: directory))?.fingerprint,
            !present.isSameFile(as: original)
        else { return .unavailable("\(error)") }
        return .unavailable(
            "\(directory) was replaced while the process ran, whose sandbox knows only the one before: "
                + "put that one back, or restart (\(error))")
    }
}
