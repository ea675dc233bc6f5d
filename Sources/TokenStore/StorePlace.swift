// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import OAuth

/// The path of an open store, at which an administrator may put another directory.
struct StorePlace {
    /// The present state of the path, compared with the directory that is open.
    enum State {
        case same
        /// The open directory is still there, but others may now change its content.
        case unfit(StoreError)
        /// Another directory is there, and can be used.
        case other(OpenDirectory)
        /// Nothing usable is there.
        case misplaced(StoreError)
    }

    let path: String

    func look(from home: OpenDirectory) -> State {
        let found: FileStatus?
        let isSame: Bool
        do throws(SystemError) {
            found = try FileSystem.status(of: path)
            let ours = try home.status().fingerprint
            isSame = found?.fingerprint.isSameFile(as: ours) ?? false
        } catch {
            return .misplaced(.unavailable("\(error)"))
        }
        guard let found else { return .misplaced(gone) }
        if let problem = StoreDirectory.problem(withDirectory: found) {
            let error = StoreError.unavailable("\(path) \(problem)")
            return isSame && StoreDirectory.isOpenToOthers(found) ? .unfit(error) : .misplaced(error)
        }
        if isSame { return .same }
        do throws(SystemError) {
            return .other(try OpenDirectory(path))
        } catch {
            return .misplaced(failure(error))
        }
    }

    /// The error for a missing directory; it is not made anew: that would be in the way of a backup being restored.
    var gone: StoreError {
        .unavailable(
            "\(path) is gone: put it back, or "
                + (Sandbox.allowsReplacing(path)
                    ? "make an empty one (mkdir -m 700), which is filled again"
                    : "make an empty one (mkdir -m 700), restart, and begin the session anew: the sandbox keeps this process from another directory, and the session ends with it")
        )
    }

    /// The meaning of a failed call in a directory that has taken the path.
    func failure(_ error: SystemError) -> StoreError {
        guard error.isPermission else { return .unavailable("\(error)") }
        return .unavailable(
            "\(path) was replaced while the process ran, whose sandbox knows only the one before: "
                + "put that one back; or, which ends what is not in the new one, restart (\(error))")
    }
}
