// SPDX-License-Identifier: Apache-2.0

import EventLoop
import HTTPClient
import System
import TokenStore

/// Why there is nothing for sessions to stand on.
public struct AuthRuntimeError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What, where, and the system's words.
    public let reason: String

    /// The ``reason``.
    public var description: String { reason }
}

extension AuthRuntimeError {
    /// What has failed below, in its own words.
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
