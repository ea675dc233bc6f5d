// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPClient
import BearerdTestSupport

/// A certificate authority of a test's own, and a client's trust in it.
struct TrustedAuthority {
    let authority: TLSAuthority
    let trust: TrustStore

    init() throws {
        authority = try TLSAuthority()
        trust = try TrustStore(file: authority.certificateFile)
    }
}
