// SPDX-License-Identifier: Apache-2.0

import BearerdJSON
import Testing

@Suite struct `Parsing JSON` {
    @Test func `a token response is read with its types`() throws {
        let text = #"{"access_token":"a","expires_in":3600,"x":[true,null,1.5,{"y":"z"}]}"#
        let value = try JSONValue(parsing: text)
        #expect(value["access_token"]?.string == "a")
        #expect(value["expires_in"]?.integer == 3600)
        #expect(value["x"] == [true, nil, 1.5, ["y": "z"]])
        #expect(value.object?.names == ["access_token", "expires_in", "x"])
    }

    @Test(arguments: [
        ("3600", JSONValue.integer(3600)), ("3600.0", .real(3600)), ("-9223372036854775808", .integer(.min)),
        ("1e2", .real(100)), ("\"x\"", .string("x")), ("null", .null), (" [ ] ", .array([])),
        ("-0", .integer(0)),
        (#""a\u0000b""#, .string("a\0b")), (#""\ud83d\ude00""#, .string("😀")),
    ])
    func `any top level is allowed`(text: String, expected: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == expected)
    }

    @Test func `an integer is read from a real that is whole, never from a string`() {
        #expect(JSONValue.real(3600).integer == 3600)
        #expect(JSONValue.real(3600.5).integer == nil)
        #expect(JSONValue.real(1e300).integer == nil)
        #expect(JSONValue.string("3600").integer == nil)
    }

    @Test func `a huge integer becomes a real and leaves its neighbours alone`() throws {
        let value = try JSONValue(parsing: #"{"big":79228162514264337593543950336,"expires_in":3600}"#)
        #expect(value["big"] == .real(0x1p96))
        #expect(value["expires_in"] == .integer(3600))
    }

    @Test func `a real beyond a Double is refused`() {
        #expect(throws: JSONError.numberOutOfRange) { try JSONValue(parsing: #"{"a":1e999}"#) }
    }

    @Test func `of equal names the last value counts`() throws {
        #expect(try JSONValue(parsing: #"{"a":1,"b":2,"a":3}"#) == ["a": 3, "b": 2])
    }

    @Test(arguments: [
        "", " ", "{", "{\"a\":1", "{\"a\"}", "[1,]", "{\"a\":1,}", "nul", "01", "+1", ".5", "1.", "'a'",
        "{a:1}",
        "\"\u{1}\"", "\"\\x\"", #""\ud800""#, #"{"a\u0000":1}"#, "{} {}", "<html>", "\u{FEFF}{}", "NaN",
        "// x\n1",
    ])
    func `what is not JSON is refused`(text: String) {
        #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
    }

    @Test(arguments: [
        [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
        [0x22, 0xE2, 0x82, 0x22],
        [0x00], [0x7B, 0x7D, 0x00],
    ])
    func `bytes that are not UTF-8 text are refused`(bytes: [UInt8]) {
        #expect(throws: JSONError.self) { try JSONValue(parsing: bytes) }
    }

    @Test(arguments: [65, 2_000, 100_000])
    func `nesting beyond the limit is refused`(depth: Int) {
        let arrays = String(repeating: "[", count: depth + 1) + String(repeating: "]", count: depth + 1)
        #expect(throws: JSONError.tooDeep) { try JSONValue(parsing: arrays) }
        let objects =
            String(repeating: "{\"a\":", count: depth) + "1" + String(repeating: "}", count: depth)
        #expect(throws: JSONError.tooDeep) { try JSONValue(parsing: objects) }
    }

    @Test func `nesting up to the limit is read`() throws {
        let text = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
        #expect(try JSONValue(parsing: text).array?.count == 1)
    }

    @Test func `an error names the place and not the text`() {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: "{\"secret\n") }
        #expect(error.map { "\($0)" }?.contains("secret") == false)
    }

    @Test func `every prefix of a text is refused without a trap`() {
        let text = Array(#"{"a":[1,2.5e1,"é\u00e9\n"],"b":{"c":null}}"#.utf8)
        for length in 0..<text.count {
            #expect(throws: JSONError.self) { try JSONValue(parsing: Array(text[..<length])) }
        }
    }

    @Test func `an object is demanded where one is needed`() {
        #expect(throws: JSONError.notAnObject) { try JSONObject(parsing: Array("[]".utf8)) }
    }
}
