// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

/// `source: static`: the token stands in the file `token`.
extension SourceSite {
    convenience init(token: String, route: String = "", upstream: RawUpstream? = nil) throws {
        let directory = try TemporaryDirectory()
        try directory.write("token", token)
        try self.init(
            identity: "source: static\ntoken_file: token", route: route, directory: directory,
            upstream: upstream)
    }

    /// Asks until the upstream has seen `token`.
    func awaitToken(_ token: String) throws {
        try eventually("the token to be seen") {
            _ = try get()
            return upstream.tokens.last == token
        }
    }
}
