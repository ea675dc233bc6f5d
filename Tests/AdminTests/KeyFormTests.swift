// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

@testable import BearerdAdmin

/// What browsers send beside a head: whatever it is, nothing traps on it.
struct `What a browser sends` {
    @Test(arguments: [
        ("key=a", "a", "/"), ("next=%2Flogin%2Fweb&key=a+b%26", "a b&", "/login/web"),
        ("key=x&key=y", "y", "/"), ("key=k&next=%2Flogin%2Fa%252Fb", "k", "/login/a%2Fb"),
    ])
    func `is a key, and where to go with it`(body: String, key: String, path: String) throws {
        let form = try #require(KeyForm(Array(body.utf8)))
        #expect(form.key == key && form.destination.path == path)
    }

    @Test(arguments: ["", "&", "=", "key", "key=", "key=%", "key=%zz", "%=1", "next=%2F", "key=%ff"])
    func `is refused where it is no form of ours`(body: String) {
        #expect(KeyForm(Array(body.utf8)) == nil)
    }

    @Test func `may be any bytes`() {
        var generator = RepeatableGenerator(seed: 0xF0F0_0000_0000_0001)
        let alphabet = Array("key=next&%2Flogin%/;= \u{FF}bearerd_admin.".utf8) + [0, 0xFF]
        for _ in 0..<5000 {
            let count = Int.random(in: 0...40, using: &generator)
            let bytes = (0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
            }
            if let form = KeyForm(bytes) { #expect(form.destination.path.hasPrefix("/")) }
            var fields = HTTPFields()
            fields[.cookie] = String(decoding: bytes.filter { 0x20...0x7E ~= $0 }, as: UTF8.self)
            for value in Cookie(name: "bearerd_admin", path: "/").values(in: fields) {
                #expect(!value.contains(";"))
            }
        }
    }

    @Test(arguments: [
        ("a=1; b=2", ["1"]), ("b=2;a=1;  a=3", ["1", "3"]), ("aa=1; a", []), ("a=", [""]), ("xa=1", []),
        ("a=b=c", ["b=c"]), ("", []),
    ])
    func `is a cookie by its whole name`(field: String, values: [String]) {
        var fields = HTTPFields()
        fields[.cookie] = field
        #expect(Cookie(name: "a", path: "/").values(in: fields) == values)
    }
}
