// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import BearerdSystem

@Suite struct `Sockets that were passed` {
    private static func passed(_ environment: [String: String]) -> [PassedSockets.Entry] {
        PassedSockets(process: 42) { environment[$0] }.entries
    }

    @Test func `are numbered from 3 and have their names`() {
        let variables = ["LISTEN_PID": "42", "LISTEN_FDS": "3", "LISTEN_FDNAMES": "web:admin:web"]
        let sockets = PassedSockets(process: 42) { variables[$0] }
        #expect(sockets.entries.map(\.descriptor) == [3, 4, 5])
        #expect(sockets.descriptors(named: "web") == [3, 5])
        #expect(sockets.descriptors(named: "other") == [])
    }

    @Test func `are unknown where nobody named them`() {
        #expect(Self.passed(["LISTEN_PID": "42", "LISTEN_FDS": "1"]).map(\.name) == ["unknown"])
        #expect(
            Self.passed(["LISTEN_PID": "42", "LISTEN_FDS": "2", "LISTEN_FDNAMES": ":"]).map(\.name)
                == ["unknown", "unknown"])
    }

    @Test(arguments: [
        ["LISTEN_FDS": "1"], ["LISTEN_PID": "41", "LISTEN_FDS": "1"], ["LISTEN_PID": "42"],
        ["LISTEN_PID": "42", "LISTEN_FDS": "0"], ["LISTEN_PID": "42", "LISTEN_FDS": "-1"],
        ["LISTEN_PID": "42", "LISTEN_FDS": "2000000000"], ["LISTEN_PID": "42", "LISTEN_FDS": "many"],
    ])
    func `are none where the variables are another's, or make no sense`(variables: [String: String]) {
        #expect(Self.passed(variables).isEmpty)
    }
}
