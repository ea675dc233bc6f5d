// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import OAuth
import Testing

@Suite struct `Variables of the environment` {
    @Test(arguments: [
        ("${A}", "one"), ("x${A}y${B}z", "xoneytwoz"), ("$${A}", "${A}"), ("$$${A}", "$${A}"), ("$A", "$A"),
        ("a$", "a$"), ("$$", "$$"), ("${A}$${A}", "one${A}"), ("$${", "${"), ("${NESTED}", "${A}"),
    ])
    func `variables are put in once`(text: String, expected: String) {
        let environment = ["A": "one", "B": "two", "NESTED": "${A}"]
        let report = report(withIdentity("audience: [\"\(text)\"]"), environment: environment)
        #expect(report.configuration?.identities.first?.client.audience == [expected])
    }

    @Test(arguments: [
        ("${MISSING}", "the environment variable MISSING is not set"),
        ("${A", "'${' without '}'; write '$${' for the characters themselves"),
        ("${}", "'' is not a name of an environment variable"),
        ("${1A}", "'1A' is not a name of an environment variable"),
        ("${A-B}", "'A-B' is not a name of an environment variable"),
    ])
    func `a variable that cannot be put in is an error`(text: String, reason: String) {
        let report = report(withIdentity("audience: [\"\(text)\"]"), environment: ["A": "one"])
        #expect(report.problems.map(\.reason) == [reason])
    }

    @Test func `a variable has the type of its looks, quoted or not`() {
        let text = "workers: \"${N}\"\nunsafe_listen: ${YES}\ntimeouts: {header: \"${T}\"}\n"
        let report = report(text + smallest, environment: ["N": "2", "YES": "true", "T": "3s"])
        #expect(report.lines == [])
        #expect(report.configuration?.workers == 2)
        #expect(report.configuration?.timeouts.header == .seconds(3))
    }

    @Test func `a variable is put in after parsing, so it cannot bring in keys`() {
        let environment = ["A": "x\", workers: \"7", "WORDS": "a b"]
        let report = report(withIdentity("audience: [\"${A}\"]", "scope: ${WORDS}"), environment: environment)
        #expect(report.configuration?.identities.first?.client.audience == ["x\", workers: \"7"])
        #expect(report.configuration?.identities.first?.client.scope == ["a", "b"])
        #expect(report.configuration?.workers == nil)
    }

    @Test func `a word like true is a text when a variable holds it`() {
        let report = report(withIdentity("client_secret: ${S}"), environment: ["S": "true"])
        #expect(report.lines == [])
    }

    @Test(arguments: [
        "listen: ${S}", "workers: ${S}", "timeouts: {header: \"${S}\"}", "limits: {header_bytes: \"${S}\"}",
        "unsafe_listen: ${S}", "log: {level: \"${S}\"}", "access: {hosts: [\"${S}\"], origins: [\"${S}\"]}",
        "store: {type: \"${S}\"}", "development: {api: \"${S}\"}", "access: {key_credential: \"${S}/\"}",
    ])
    func `what a variable holds is in no message`(line: String) {
        let report = report(line + "\n" + smallest, environment: ["S": "hunter2 hunter2"])
        #expect(report.configuration == nil)
        #expect(!report.lines.joined().contains("hunter2"))
    }
}
