// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import HTTPClient
import OAuth
import System
import TokenStore

extension CommandFailure {
    /// Why the process, or a command's engine, cannot begin.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure:
            self = failure
        case let failure as SystemError:
            self.init(failure.isShortage ? .systemRefuses : .failure, failure.advice)
        case let failure as FileStoreError:
            self.init(failure.exitStatus, "store: \(failure.description)")
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

extension FileStoreError {
    /// Wrong modes, missing rights and a wrong key are for a person to mend; the rest is the file system's.
    fileprivate var exitStatus: ExitStatus {
        switch self {
        case .insecure: .permission
        case .foreign: .configuration
        case .unusable(let error): error.isPermission ? .permission : .cannotCreate
        }
    }
}
