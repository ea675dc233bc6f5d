// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdRedis
import BearerdSystem
import BearerdTokenStore

/// `store`: sessions can be locked and written.
enum StoreCheck: WholeCheck {
    static let id = CheckID.store

    static func look(at subject: DoctorSubject) async -> Finding {
        if case .redis = subject.configuration.store { return await lookAtServer(of: subject) }
        guard let directory = subject.configuration.store.directory else {
            return .skip("store.type is memory: sessions end with the daemon")
        }
        if let problem = subject.storeElsewhere { return .skip(problem) }
        if let problem = subject.configuration.store.strangersProblem {
            return .skip("\(problem); doctor run as that user looks into it")
        }
        do throws(FileStoreError) {
            let found = finding(try StoreDirectory.examine(directory), in: directory, of: subject)
            guard found.result != .fail, let trouble = await unreadableSession(of: subject) else {
                return found
            }
            return trouble
        } catch {
            switch error {
            case .insecure(let path, let problem):
                return .fail(error.description, fix: insecureFix(path, problem))
            case .plainText:
                return .fail(error.description, fix: "move it away, then bearerd import --refresh-token FILE")
            case .foreign, .badKey: return .fail(error.description, fix: "store.encryption_key")
            case .unusable(let error) where error.isFull:
                return .fail(
                    error.description, fix: "make room on that disk: df \(directory) tells how full it is")
            case .unusable:
                return .fail(error.description, fix: "store.directory, or its rights and its disk")
            }
        }
    }

    /// The failure for the first session that cannot be read, as under another key than it was written with.
    private static func unreadableSession(of subject: DoctorSubject) async -> Finding? {
        for identity in subject.configuration.identities {
            do throws(CommandFailure) {
                _ = try await subject.store.session(of: identity.name)
            } catch {
                return .fail(
                    error.message,
                    fix:
                        "the key that it was written with in store.encryption_key, or move that file away and log in"
                )
            }
        }
        return nil
    }

    /// The command that mends the rights of a directory or file of the store, or the key that names it.
    private static func insecureFix(_ path: String, _ problem: String) -> String {
        let status = (try? FileSystem.status(of: path, followingLink: false)) ?? nil
        guard let status, problem != FileStoreError.noDirectory else {
            return "another directory in store.directory"
        }
        let user = CurrentProcess.effectiveUser
        guard status.owner == user else { return "chown \(user) \(path), or run as uid \(status.owner)" }
        guard problem != FileStoreError.noFile else {
            return status.kind == .symbolicLink
                ? "mv \"$(readlink -f \(path))\" \(path) puts the file itself in the place of the link"
                : "rm -r \(path), and log in again"
        }
        return "chmod \(status.kind == .directory ? "0700" : "0600") \(path)"
    }

    private static func finding(
        _ store: StoreExamination, in directory: String, of subject: DoctorSubject
    ) -> Finding {
        // A daemon makes its directory at the start.
        if !store.isThere, subject.daemon.status?.daemon != nil {
            return .fail(
                "\(store.path) is not there, although a daemon runs: it was removed or moved, or that daemon keeps its sessions "
                    + "elsewhere",
                fix:
                    "put it back, or mkdir -m 0700 \(store.path) as the daemon's user; where 'bearerd status' still tells of the store after that, restart the daemon"
            )
        }
        let seen =
            store.isThere
            ? "\(store.path): files can be locked and written"
            : "\(store.path) is not there yet; the first session makes it"
        guard let unused = store.unused else { return .ok(seen) }
        let reason = "\(seen), in place of \(directory), which \(unused.problem)"
        if unused.holdsSessions {
            return .warn(
                "\(reason); the sessions there are not used",
                fix: "remove them, or have them used again in place of these: chmod 0700 \(directory)")
        }
        // Once sessions are kept in the other one, a changed mode would hide them.
        guard unused.isOurs, !store.isThere else { return .ok(reason) }
        return .warn(reason, fix: "chmod 0700 \(directory)")
    }

    /// Checks a server by performing each operation with the rights that it needs.
    private static func lookAtServer(of subject: DoctorSubject) async -> Finding {
        do throws(CommandFailure) {
            let server = try await subject.store.examine()
            for identity in subject.configuration.identities {
                _ = try await subject.store.session(of: identity.name)
            }
            let seen = "\(server?.name ?? ""): sessions can be read and written"
            guard let eviction = server?.eviction else { return .ok(seen) }
            return .warn(
                "\(seen), but its maxmemory-policy \(eviction) may throw sessions and locks away",
                fix: "CONFIG SET maxmemory-policy noeviction, or a Redis for sessions alone")
        } catch {
            return .fail(error.message, fix: error.remedy ?? serverFix(of: subject.configuration.store))
        }
    }

    /// The remedy for a server that cannot be reached, with the key that has its address.
    private static func serverFix(of store: StoreConfiguration) -> String {
        var place = "store.url"
        if case .redis(let redis) = store, !redis.sentinels.isEmpty { place = "store.sentinels" }
        return "start or reach that server, or mend \(place) or store.ca_file"
    }
}
