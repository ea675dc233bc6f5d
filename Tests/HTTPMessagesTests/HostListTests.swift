// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import Testing

struct `A list of hosts` {
    private let hosts = HostList([
        "localhost:8080", "App.test", "root.test.", "[::1]:8080", "[::2]", "usual.test:", "[::3]:",
    ])

    @Test(arguments: [
        "localhost:8080", "LOCALHOST:8080", "localhost.:8080", "app.test", "app.test:1", "APP.test.",
        "app.test.:1",
        "usual.test", "usual.test:", "usual.test.", "[::3]", "[::3]:",
        "root.test", "root.test.:1", "[::1]:8080", "[::2]", "[::2]:1",
    ])
    func `a host is known in every spelling`(host: String) { #expect(hosts.contains(host)) }

    @Test(arguments: [
        "", ".", "localhost", "localhost.", "localhost:80", "localhost..:8080", "app.test..", "x.app.test",
        "usual.test:80", "[::3]:80",
        "app.test.x", "[::1]", "[::1]:80", ":8080", ".:8080",
    ])
    func `another is not`(host: String) { #expect(!hosts.contains(host)) }

    @Test func `a request that names none is for whom it reaches`() { #expect(hosts.contains(nil)) }
}
