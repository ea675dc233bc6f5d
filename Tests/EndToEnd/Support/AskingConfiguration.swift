// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

extension String {
    /// The same configuration with the admin listener at `admin`, where commands find the daemon that had the system choose a port.
    func asking(_ admin: some CustomStringConvertible) -> String {
        replacing("admin:\n  listen: 127.0.0.1:0", with: "admin:\n  listen: \(admin)")
    }
}

extension TemporaryDirectory {
    /// Writes a file by which commands find the daemon that runs on the directory's `config.yaml`, and returns its path.
    func fileAsking(_ admin: Address) throws -> String {
        let text = String(decoding: Self.contents(of: path("config.yaml")), as: UTF8.self)
        return try write("asking.yaml", text.asking(admin))
    }
}
