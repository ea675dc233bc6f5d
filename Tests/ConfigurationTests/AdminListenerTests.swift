// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPMessages
import Testing

/// Commands ask a daemon by a file that has been broken since the daemon read it.
@Suite struct `The admin listener of a broken file` {
    private func address(_ text: String, environment: [String: String] = [:]) -> String {
        switch report(text, environment: environment).adminListener {
        case .configured(let admin): admin.listen.description
        case .absent: "absent"
        case .unreadable: "unreadable"
        }
    }

    @Test(arguments: [
        "identities: 7\nadmin: {listen: 127.0.0.1:9191}\n",
        "admin:\n  listen: 127.0.0.1:9191\n  qiut: true\nroutes: [\n",
        "routes: [}\nadmin:\n  # here\n  listen: \"127.0.0.1:9191\"  # there\n\nstore: {}\n",
        "---\n  routes: [}\n  admin:\n    listen: 127.0.0.1:9191\n  store: {}\n",
        "\u{FEFF}'admin' :\r\n  listen: 127.0.0.1:9191\r\nroutes:\r\n\t- x\r\n",
        "admin: {listen: 127.0.0.1:9191}\nadmin: {listen: 127.0.0.1:9192}\n",
        "routes: 'admin: {listen: 127.0.0.1:1}\nadmin: {listen: 127.0.0.1:9191}",
    ])
    func `is found`(text: String) {
        #expect(report(text).configuration == nil, "the case is about a file with an error")
        #expect(address(text) == "127.0.0.1:9191")
    }

    @Test(arguments: [
        "admin: {listen: nonsense}\n", "admin: {lisen: 127.0.0.1:9191}\n",
        "admni: {listen: 127.0.0.1:9191}\n",
        "admin: []\n", "admin:\n\tlisten: 127.0.0.1:9191\n",
        "admin:\n  listen: \"127.0.0.1:9191\nroutes: []\n",
        "routes: [}\n", "{admin: {listen: 127.0.0.1:9191}, routes: [}\n", "routes: [}\nadministration: 1\n",
        "admin: {listen: \"${ABSENT}\"}\n", "[]\n", "\u{0}",
    ])
    func `is never guessed`(text: String) {
        #expect(address(text) == "unreadable")
    }

    @Test func `is absent only where the file says nothing of it`() {
        #expect(address(smallest) == "absent")
        #expect(address("routes: 1\n") == "absent")
    }

    @Test func `takes a variable, and the standard address where the section has none`() {
        #expect(
            address("admin: {listen: \"127.0.0.1:${P}\"}\nx: 1\n", environment: ["P": "9191"])
                == "127.0.0.1:9191")
        #expect(address("admin:\nx: [\n") == "127.0.0.1:9090")
    }
}
