// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Takes proxies out of the environment: URLSession asks them for loopback addresses too.
enum EmptyProxyEnvironment {
    static func enter() {
        for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] { unsetenv(name) }
    }
}
