// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import Testing

/// Cookies know no port: a browser sends the admin listener's to every listener of the same host.
@Suite struct `Our own cookies` {
    private static func fields(_ name: HTTPFields.Name, _ values: [String]) -> HTTPFields {
        var fields = HTTPFields()
        fields.append(.host, "localhost")
        for value in values { fields.append(name, value) }
        fields.append(.via, "1.1 a")
        return fields
    }

    @Test(arguments: [
        ("bearerd_admin=k", nil), ("bearerd_admin=k; bearerd_login_x=y", nil), ("bearerd_", nil),
        ("a=1; bearerd_admin=k", "a=1"), ("bearerd_admin=k; a=1", "a=1"),
        ("a=1;bearerd_admin=k;b=2", "a=1;b=2"),
        ("a=1 ;\tbearerd_admin = k ; b=2", "a=1 ; b=2"), ("bearerd_admin=\"k\"; a=\"1\"", "a=\"1\""),
        ("a=\"x; bearerd_admin=k; y\"", "a=\"x; y\""), ("a=1; =bearerd_admin=k", "a=1"),
        ("$Version=1; \"bearerd_admin\"=k; $Path=\"/\"", "$Version=1; $Path=\"/\""),
        ("; bearerd_admin=k ; ", nil), ("a=1;;bearerd_=k;;b=2;", "a=1;;;b=2;"), (";a=1;bearerd_=k", ";a=1"),
        (String(repeating: "bearerd_;a;", count: 3000), String(repeating: "a;", count: 3000)),
        ("bbearerd_=1; bebearerd_admin=k; bearerd_b=2", "bbearerd_=1; bebearerd_admin=k"),
    ])
    func `are taken out of what a client sends, and nothing else is`(value: String, rest: String?) {
        var fields = Self.fields(.cookie, [value])
        fields.removeOwnCookies()
        #expect(fields == Self.fields(.cookie, rest.map { [$0] } ?? []))
        #expect(fields.contains(.cookie) == (rest != nil))
    }

    @Test(arguments: [
        "", "a=1", "a=1;;b=2 ;", "Bearerd_admin=1", "BEARERD_=1", "xbearerd_admin=1", "__Host-bearerd_a=1",
        "bearerd=1",
        "a=bearerd_admin; b=bearerd_x=1", ";", "bearer", "a=bearerd", "b",
    ])
    func `are none of these, which stay byte for byte as they are`(value: String) {
        var fields = Self.fields(.cookie, [value])
        fields.removeOwnCookies()
        #expect(fields == Self.fields(.cookie, [value]))
    }

    @Test func `are found in each of several fields, whose spelling and order stay`() throws {
        let spelt = try #require(HTTPFields.Name("cOOKIE"))
        var fields = Self.fields(spelt, ["a=1", "bearerd_admin=k", "b=2; bearerd_x=1", "", "c=3"])
        fields.removeOwnCookies()
        #expect(fields == Self.fields(spelt, ["a=1", "b=2", "", "c=3"]))
    }

    @Test(arguments: [
        "bearerd_admin=x", "bearerd_login_a=; Path=/; Max-Age=0", " \tbearerd_x=1", "=bearerd_admin=x",
        "bearerd_admin",
        "= bearerd_admin=x; HttpOnly",
    ])
    func `are not set by an upstream`(value: String) {
        var fields = Self.fields(.setCookie, ["a=1; Path=/", value, "b=2"])
        fields.removeOwnSetCookies()
        #expect(fields == Self.fields(.setCookie, ["a=1; Path=/", "b=2"]))
    }

    @Test(arguments: [
        "a=1; bearerd_admin=x", "__Host-bearerd_admin=x", "Bearerd_admin=x", "a=bearerd_admin=x", "",
    ])
    func `are not what an upstream sets here`(value: String) {
        var fields = Self.fields(.setCookie, [value])
        fields.removeOwnSetCookies()
        #expect(fields == Self.fields(.setCookie, [value]))
    }
}
