// SPDX-License-Identifier: Apache-2.0

import BearerdYAML
import Testing

@Suite struct `A YAML scalar` {
    @Test(arguments: [
        ("true", true), ("True", true), ("TRUE", true), ("yes", true), ("on", true),
        ("false", false), ("False", false), ("no", false), ("Off", false),
    ])
    func `the truths of YAML 1.1 and 1.2 are read`(text: String, expected: Bool) {
        #expect(YAMLScalar(text, style: .plain).bool == expected)
    }

    @Test(arguments: ["", "tRUE", "y", "n", "1", "0", "truee", "falze", " true"])
    func `a typo is never a truth`(text: String) {
        #expect(YAMLScalar(text, style: .plain).bool == nil)
    }

    @Test(arguments: [
        ("0", 0), ("-0", 0), ("7", 7), ("+7", 7), ("-12", -12), ("0x1F", 31), ("0o17", 15), ("1_000", 1000),
        ("9223372036854775807", Int64.max), ("-9223372036854775808", Int64.min),
    ])
    func `whole numbers are read`(text: String, expected: Int64) {
        #expect(YAMLScalar(text, style: .plain).integer == expected)
    }

    @Test(arguments: [
        "", "-", "+", "0x", "0o", "0o8", "010", "1.0", "1e3", "9223372036854775808", "_1", "1_", "--1", "+-1",
        "0x-1", "-0x1", "+0o7",
        "1:30", "½", "١", "1 ",
    ])
    func `what is not one whole number, or not the same in both versions, is none`(text: String) {
        #expect(YAMLScalar(text, style: .plain).integer == nil)
    }

    @Test(arguments: [
        ("1", 1), ("0x10", 16), (".5", 0.5), ("-1.", -1), ("1e-2", 0.01), ("+2.5E+1", 25),
    ])
    func `numbers with a point or an exponent are read`(text: String, expected: Double) {
        #expect(YAMLScalar(text, style: .plain).number == expected)
        #expect(YAMLScalar(text, style: .quoted).number == nil)
    }

    @Test(arguments: ["", ".", "1e", "e1", ".inf", ".nan", "inf", "0x1p3", "1e999", "1,5"])
    func `anything else is no number`(text: String) {
        #expect(YAMLScalar(text, style: .plain).number == nil)
    }

    @Test(arguments: ["true", "7", "", "null", "~"])
    func `a quoted scalar is a text and nothing else`(text: String) {
        let scalar = YAMLScalar(text, style: .quoted)
        #expect(scalar.bool == nil)
        #expect(scalar.integer == nil)
        #expect(!scalar.isNull)
    }

    @Test(arguments: ["", "~", "null", "Null", "NULL"])
    func `null has five spellings`(text: String) {
        #expect(YAMLScalar(text, style: .plain).isNull)
    }
}
