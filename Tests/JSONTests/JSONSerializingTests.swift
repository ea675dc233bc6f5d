// SPDX-License-Identifier: Apache-2.0

import BearerdJSON
import Testing

@Suite struct `Serializing JSON` {
    @Test func `members keep their order and strings are escaped`() {
        let value: JSONValue = ["b": "q\"\\\n\u{1}\u{7F}é", "a": [1, 1.5, nil, true, [:], []]]
        let expected = #"{"b":"q\"\\\n\u0001\u007fé","a":[1,1.5,null,true,{},[]]}"#
        #expect(String(decoding: value.serialized(), as: UTF8.self) == expected)
    }

    @Test func `pretty text is indented and ends its last line`() {
        let value: JSONValue = ["a": [1], "b": [:]]
        let expected = "{\n  \"a\": [\n    1\n  ],\n  \"b\": {}\n}\n"
        #expect(String(decoding: value.serialized(pretty: true), as: UTF8.self) == expected)
    }

    @Test(arguments: [true, false])
    func `what was written is read back`(pretty: Bool) throws {
        let value: JSONValue = [
            "text": "\u{0}\u{1F}\"\\/é😀", "numbers": [0, -1, 9_223_372_036_854_775_807, 0.1, 1e300, -1.5e-7],
            "nested": ["a": ["b": [nil, false]]],
        ]
        #expect(try JSONValue(parsing: value.serialized(pretty: pretty)) == value)
    }

    @Test func `a number without a spelling becomes null`() {
        let value: JSONValue = [.real(.infinity), .real(.nan)]
        #expect(String(decoding: value.serialized(), as: UTF8.self) == "[null,null]")
    }

    @Test func `setting a member keeps its place and nil removes it`() {
        var object: JSONObject = ["a": 1, "b": 2]
        object["a"] = 3
        object["c"] = 4
        object["b"] = nil
        #expect(object.names == ["a", "c"])
        #expect(object == ["c": 4, "a": 3])
    }
}
