// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import Glibc
import BearerdHTTPClient
import OAuth
import BearerdRedis
import BearerdSystem
import BearerdTokenStore

extension CommandFailure {
    /// Why the process, or a command's engine, cannot begin.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure:
            self = failure
        case let failure as SystemError:
            self.init(failure.isShortage ? .systemRefuses : .failure, failure.advice)
        case let failure as FileStoreError:
            self.init(failure.exitStatus, "store: \(failure.description)\(failure.command)")
        case let failure as KeyringFailure:
            self.init(failure)
        case let failure as RedisError:
            self.init(failure.exitStatus, "store: \(failure.reason)")
        case let failure as TrustStore.LoadError:
            self.init(.configuration, failure.reason)
        case let failure as CurlError:
            self.init(.failure, "libcurl cannot be used: \(failure.reason)")
        case let failure as CredentialError:
            self.init(.configuration, failure.reason)
        case let failure as StreamError:
            self.init(
                .systemRefuses,
                "cannot start an event loop: \(failure.reason); raise \(failure.limit)")
        default:
            self.init(.failure, "\(error)")
        }
    }

    /// Why a store cannot have its key.
    init(_ failure: KeyringFailure) {
        self.init(failure.status, failure.message)
        mayBeDaemons = true
    }

    /// Why the file of the audit cannot be opened.
    init(_ refusal: OpenedFile.Refusal) { self.init(.cannotCreate, "audit.file: \(refusal.reason)") }
}

extension StreamError {
    /// Which limit of the system is behind it (epoll_ctl(2), epoll_create1(2)).
    var limit: String {
        switch self {
        case .failed(ENOSPC): "fs.epoll.max_user_watches"
        case .failed(ENOMEM): "the limit of memory (MemoryMax=)"
        default: "the limit of descriptors (LimitNOFILE=)"
        }
    }
}

extension SystemError {
    /// What failed, and which limit is behind it.
    fileprivate var advice: String {
        operation == .createThread
            ? "the system has no thread left (\(self)); raise TasksMax=, pids.max or RLIMIT_NPROC"
            : description
    }
}

extension RedisError {
    /// What lets us in no further is for a person to mend.
    fileprivate var exitStatus: ExitStatus {
        switch self {
        case .denied, .forbidden: .permission
        case .unreachable, .refused: .unavailable
        }
    }
}

extension StoreError {
    /// What a command that could not use the store ends with.
    var exitStatus: ExitStatus {
        switch self {
        case .unreachable: .unavailable
        case .denied, .forbidden: .permission
        case .busy, .unavailable, .refused, .outdated, .leaseLost: .inputOutput
        }
    }
}

extension FileStoreError {
    /// The command that mends it, where there is one.
    fileprivate var command: String {
        switch self {
        case .plainText: "; 'bearerd import --refresh-token FILE' takes it over"
        case .insecure, .foreign, .badKey, .unusable: ""
        }
    }

    /// Wrong modes, missing rights and a wrong key are for a person to mend; the rest is the file system's.
    fileprivate var exitStatus: ExitStatus {
        switch self {
        case .insecure, .plainText: .permission
        case .foreign, .badKey: .configuration
        case .unusable(let error): error.isPermission ? .permission : .cannotCreate
        }
    }
}
