// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdRedis
import BearerdSystem
import BearerdTokenStore
import Glibc
import OAuth

extension CommandFailure {
    /// The failure to start the process, or to open a command's sessions.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure:
            self = failure
        case let failure as SystemError:
            self.init(failure.isShortage ? .systemRefuses : .failure, failure.advice)
        case let failure as FileStoreError:
            self.init(failure.exitStatus, "\(failure.key): \(failure.description)\(failure.advice)")
        case let failure as KeyringFailure:
            self.init(failure)
        case let failure as RedisError:
            self.init(failure.exitStatus, "store: \(failure.reason)")
            remedy = failure.remedy
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

    /// The failure to get a store's key.
    init(_ failure: KeyringFailure) {
        self.init(failure.status, failure.message)
        mayBeDaemons = true
    }

    /// The failure to open the audit's file.
    init(_ refusal: OpenedFile.Refusal) { self.init(.cannotCreate, "audit.file: \(refusal.reason)") }
}

extension StreamError {
    /// The system limit behind the error (epoll_ctl(2), epoll_create1(2)).
    var limit: String {
        switch self {
        case .failed(ENOSPC): "fs.epoll.max_user_watches"
        case .failed(ENOMEM): "the limit of memory (MemoryMax=)"
        default: "the limit of descriptors (LimitNOFILE=)"
        }
    }
}

extension SystemError {
    /// The failed call, with the system limit behind it.
    fileprivate var advice: String {
        operation == .createThread
            ? "the system has no thread left (\(self)); raise TasksMax=, pids.max or RLIMIT_NPROC"
            : description
    }
}

extension RedisError {
    /// The exit status; a missing right is for a person to fix.
    fileprivate var exitStatus: ExitStatus {
        switch self {
        case .denied, .forbidden: .permission
        case .unreachable, .refused: .unavailable
        }
    }
}

extension StoreError {
    /// The exit status of a command that could not use the store.
    var exitStatus: ExitStatus {
        switch self {
        case .unreachable: .unavailable
        case .denied, .forbidden: .permission
        case .busy, .unavailable, .refused, .outdated, .leaseLost: .inputOutput
        }
    }
}

extension FileStoreError {
    /// The key that says where the store is, or how it is encrypted.
    fileprivate var key: String {
        switch self {
        case .insecure, .plainText, .unusable: "store.directory"
        case .foreign, .badKey: "store.encryption_key"
        }
    }

    /// The command or the change that helps; empty if the description names it.
    fileprivate var advice: String {
        switch self {
        case .plainText: "; 'bearerd import --refresh-token FILE' takes it over"
        case .unusable(let error) where error.isReadOnly:
            "; nobody may write there: mount a volume that is writable, or name another directory"
        case .unusable(let error) where error.isPermission:
            "; uid \(CurrentProcess.effectiveUser) may not do that there: give it the right, or name another directory"
        case .unusable(let error) where error.isFull: "; make room on that disk"
        case .unusable: "; mend that, or name another directory"
        case .insecure, .foreign, .badKey: ""
        }
    }

    /// The exit status: wrong modes, missing rights and a wrong key are for a person to fix, the rest is the
    /// file system's.
    fileprivate var exitStatus: ExitStatus {
        switch self {
        case .insecure, .plainText: .permission
        case .foreign, .badKey: .configuration
        case .unusable(let error): error.isPermission ? .permission : .cannotCreate
        }
    }
}
