// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import Testing

@Suite struct `A prepared field` {
    private func lines(_ fields: HTTPFields) -> [String] {
        var lines: [String] = []
        fields.forEach { lines.append("\($0): \($1)") }
        return lines
    }

    @Test func `goes into any head as it is, at the end`() throws {
        let name = try #require(HTTPFields.Name("X-Own"))
        let own = PreparedField(name, known: "1")
        var fields = HTTPFields()
        fields.append(.accept, "*/*")
        fields.append(own)
        fields.append(PreparedField(.via, known: "1.1 a"))
        fields.append(own)
        #expect(lines(fields) == ["Accept: */*", "X-Own: 1", "Via: 1.1 a", "X-Own: 1"])
        #expect(fields[.via] == "1.1 a" && fields.count(of: name) == 2)
    }

    @Test func `takes the place of all that have its name, in the spelling of the first`() throws {
        let host = PreparedField(.host, known: "example.com:8443")
        var fields = HTTPFields()
        fields.append(.accept, "*/*")
        fields.append(try #require(HTTPFields.Name("hOST")), "a")
        fields.append(.host, "b")
        fields.replace(.host, with: host)
        #expect(lines(fields) == ["Accept: */*", "hOST: example.com:8443"])
        var empty = HTTPFields()
        empty.replace(.host, with: host)
        #expect(lines(empty) == ["Host: example.com:8443"])
    }

    @Test(arguments: ["a\r\nX: y", "a\0", "\u{7F}", " a", "a\t"])
    func `is none with a value that no field may hold`(value: String) {
        let field = PreparedField(.via, bytes: value.utf8.span)
        let prefixed = PreparedField(.via, bytes: "x".utf8.span, behind: value + "\n")
        #expect(field == nil && prefixed == nil)
    }

    @Test func `may be kept in two parts, and have its value changed`() throws {
        let prepared = PreparedField(.authorization, bytes: "fake".utf8.span, behind: "Bearer ")
        let secret = try #require(prepared)
        var again = PreparedField(secret.form, bytes: secret.bytes)
        again.set(7, to: UInt8(ascii: "c"))
        var fields = HTTPFields()
        fields.append(secret)
        fields.append(again)
        #expect(fields.values(of: .authorization) == ["Bearer fake", "Bearer cake"])
    }
}
