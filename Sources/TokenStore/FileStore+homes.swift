// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import OAuth

/// The directory of each identity.
///
/// It is the directory at the configured path if that can be used, otherwise the one before. An identity moves under
/// the locks of both, so that two processes never hold it at once; a newer session in the old directory moves along.
extension FileStore {
    enum HomeState {
        case settled(StoreHome)
        /// The path leads elsewhere, but somebody holds the identity's lock here or there.
        case contested(StoreHome)

        var home: StoreHome {
            switch self {
            case .settled(let home), .contested(let home): home
            }
        }
    }

    /// The directory of an identity at the last look.
    func home(of identity: String) -> StoreHome { homes[identity] ?? first }

    /// Finds an identity's directory, and moves the identity there.
    ///
    /// - Throws: ``StoreError`` if others may change the directory.
    func homeState(of identity: String) throws(StoreError) -> HomeState {
        let home = home(of: identity)
        switch place.look(from: home.directory) {
        case .same:
            misplacements[identity] = nil
            return .settled(home)
        case .unfit(let error):
            throw error
        case .misplaced(let error):
            misplacements[identity] = error
            return .settled(home)
        case .other(let directory):
            // The holder of the lock finishes in the directory of the lock.
            guard !isHeld(identity) else { return .settled(home) }
            do throws(StoreError) {
                guard let new = try move(identity, from: home, to: directory) else { return .contested(home) }
                misplacements[identity] = nil
                return .settled(new)
            } catch {
                misplacements[identity] = error
                return .settled(home)
            }
        }
    }

    /// The meaning of a failed call, which may be that the directory is gone.
    func failure(_ error: SystemError, of identity: String) -> StoreError {
        guard home(of: identity).directory.isRemoved else { return .unavailable("\(error)") }
        return misplacements[identity] ?? place.gone
    }

    /// - Returns: nil if somebody holds the identity's lock in either directory.
    private func move(
        _ identity: String, from old: StoreHome, to directory: OpenDirectory
    ) throws(StoreError) -> StoreHome? {
        let new =
            ([first] + homes.values).first { $0.isSame(as: directory) }
            ?? StoreHome(directory, sealer: sealer)
        var locks: [FileStoreLock] = []
        defer { for lock in locks { lock.release() } }
        do throws(SystemError) {
            // In a removed directory nobody can hold a lock.
            for home in [old, new] where !home.directory.isRemoved {
                guard let lock = try take(home.paths(of: identity).lock) else { return nil }
                locks.append(lock)
            }
        } catch {
            throw place.failure(error)
        }
        let there = try read(new.paths(of: identity).current, identity)
        if let refusal = refusal(of: there, at: new.paths(of: identity).current, in: new) { throw refusal }
        do throws(SystemError) {
            // A directory that can be locked and read may not be writable: a sandbox only knows the old one.
            try FileReplacement.rehearse(new.paths(of: identity).current)
            try carry(identity, from: old, to: new, over: there)
        } catch {
            throw place.failure(error)
        }
        homes[identity] = new
        return new
    }

    /// The reason why a file may neither be used nor replaced; nil if it may.
    func refusal(of entry: Entry, at place: FilePlace, in home: StoreHome) -> StoreError? {
        switch entry {
        case .foreign:
            .refused("\(place.path) \(sealer.foreignProblem)")
        case .later:
            .refused(
                "\(place.path) was written by a later version of bearerd, and is left as it is: run that version, or "
                    + "move the file away and log in")
        case .unencrypted where !home.mark.mayBePlain:
            .refused("\(place.path) \(EncryptionMark.problem)")
        case .missing, .damaged, .whole, .unencrypted:
            nil
        }
    }

    /// Copies a newer session from the old directory to the new one.
    private func carry(
        _ identity: String, from old: StoreHome, to new: StoreHome, over there: Entry
    ) throws(SystemError) {
        guard let session = (try? read(old.paths(of: identity).current, identity))?.session,
            session.generation > there.session?.generation ?? 0
        else { return }
        try write(session, to: new, keepingPrevious: true)
    }
}
