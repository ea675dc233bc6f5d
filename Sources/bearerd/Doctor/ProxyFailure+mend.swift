// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPClient
import BearerdHTTPExchange

extension ProxyFailure {
    /// The advice for the failure, where `key` names the proxy.
    func mend(by key: String) -> String {
        certificateFault?.isOfAuthority == true ? "\(key): \(Self.authorityAdvice)" : key
    }
}
