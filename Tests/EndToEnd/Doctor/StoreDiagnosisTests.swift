// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What doctor says of sessions that it cannot read.
@Suite(.blocking) struct `Doctor on a store` {
    @Test func `fails with an encryption key that is not the one of its sessions`() throws {
        var fixture = try DoctorFixture()
        let directory = fixture.directory.path("store")
        func store(_ digit: String) -> String {
            "directory: \(directory)\nencryption_key: \(String(repeating: digit, count: 64))"
        }
        fixture.settings.store = store("1")
        #expect(try BearerdProcess.command("token", "-c", fixture.file()).exit == 0)
        #expect(try fixture.run().result(of: "store") == "ok")
        fixture.settings.store = store("2")
        let result = try fixture.run()
        #expect(result.result(of: "store") == "fail", "\(result)")
        #expect(result.fix(of: "store").contains("store.encryption_key"), "\(result)")
    }
}
