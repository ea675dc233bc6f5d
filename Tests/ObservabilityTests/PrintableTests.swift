// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import Testing

@Suite struct `Printable text` {
    @Test(arguments: [
        ("plain, with spaces", "plain, with spaces"), ("José 東京 🙂", "José 東京 🙂"), (#"C:\new"#, #"C:\new"#),
        ("a\nb", #"a\nb"#), ("a\r\nb", #"a\r\nb"#), ("a\tb", #"a\tb"#), ("\u{1B}[31mred", #"\u001b[31mred"#),
        ("\u{0}\u{7}\u{7F}", #"\u0000\u0007\u007f"#), ("\u{9B}2J\u{85}", #"\u009b2J\u0085"#),
        ("\u{2028}\u{2029}", #"\u2028\u2029"#), ("\u{202E}cod.exe\u{2066}", #"\u202ecod.exe\u2066"#),
    ])
    func `nothing that a terminal would obey is left`(text: String, shown: String) {
        #expect(text.printable == shown)
    }

    @Test func `line ends may stay, and they alone`() {
        #expect("a\nb\r\u{1B}\n".printable(keepingLineEnds: true) == "a\nb\\r\\u001b\n")
        #expect("a\r\nb".printable(keepingLineEnds: true) == "a\\r\nb")
    }
}
