// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdSystem
import BearerdTokenStore
import OAuth

extension AuthRuntimeError {
    /// Takes over the words of an error from below.
    init(_ error: any Error) {
        switch error {
        case let error as AuthRuntimeError: self = error
        case let error as SystemError: self.init(reason: error.description)
        case let error as FileStoreError: self.init(reason: "store: \(error)")
        case let error as TrustStore.LoadError: self.init(reason: "certificate authorities: \(error.reason)")
        case let error as CurlError: self.init(reason: "libcurl: \(error.reason)")
        case let error as StreamError: self.init(reason: "event loop: \(error.reason)")
        default: self.init(reason: "\(error)")
        }
    }
}
