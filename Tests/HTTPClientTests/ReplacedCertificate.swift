// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPClient
import BearerdTestSupport

/// A certificate of ours whose files a test replaces.
struct ReplacedCertificate {
    let own: OwnCertificate
    private let directory: TemporaryDirectory

    /// - Parameter pair: the files whose contents there are at first.
    init(_ pair: (certificateFile: String, keyFile: String)) throws {
        directory = try TemporaryDirectory()
        own = OwnCertificate(certificateFile: directory.path("c.pem"), keyFile: directory.path("c.key"))
        try replace(with: pair)
    }

    /// Writes the contents of two files over those that there are.
    func replace(with pair: (certificateFile: String, keyFile: String)) throws {
        try directory.write("c.pem", bytes: TemporaryDirectory.contents(of: pair.certificateFile))
        try directory.write("c.key", bytes: TemporaryDirectory.contents(of: pair.keyFile))
    }
}
