// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Something else in the place of a session's file, as doctor tells it.
@Suite(.blocking) struct `In the place of a session` {
    private let fixture: DoctorFixture
    private let session: String

    init() throws {
        fixture = try DoctorFixture()
        mkdir(fixture.directory.path("store"), 0o700)
        session = fixture.directory.path("store/default.session")
    }

    private func expect(fix: String) throws {
        let result = try fixture.run("--check", "store")
        #expect(result.exit == 69 && result.result(of: "store") == "fail", "\(result)")
        #expect(result.seen(by: "store").contains("\(session): is not a regular file"), "\(result)")
        #expect(result.fix(of: "store").hasPrefix(fix), "\(result)")
    }

    @Test func `a link is told with the way to have the file itself there`() throws {
        let target = try fixture.directory.write("elsewhere", "{}")
        #expect(symlink(target, session) == 0)
        try expect(fix: "mv \"$(readlink -f \(session))\" \(session)")
    }

    @Test func `a FIFO and a directory are to be removed`() throws {
        #expect(mkfifo(session, 0o600) == 0)
        try expect(fix: "rm -r \(session)")
        #expect(remove(session) == 0 && mkdir(session, 0o700) == 0)
        try expect(fix: "rm -r \(session)")
    }
}
