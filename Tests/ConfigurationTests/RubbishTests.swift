// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import Testing

@Suite struct `Rubbish in a configuration` {
    @Test(arguments: [
        UInt8(ascii: "\n"), UInt8(ascii: "["), UInt8(ascii: "'"), UInt8(ascii: ":"), 0x00, 0xFF,
    ])
    func `a file with any one byte changed gives a configuration or errors`(byte: UInt8) {
        let file = Array(everyKey.utf8)
        for position in stride(from: 0, to: file.count, by: 19) {
            var changed = file
            changed[position] = byte
            expectOutcome(of: changed)
        }
    }

    @Test func `a file cut anywhere gives a configuration or errors`() {
        let file = Array(everyKey.utf8)
        for end in stride(from: 0, to: file.count, by: 19) { expectOutcome(of: Array(file.prefix(end))) }
    }

    @Test(arguments: [
        "[]", "{}", "~", "x", "[[]]", "{a: b}", "-1", "99999999999999999999", "\"\\u0000\"", "${X}", "${",
        "*a", "''",
    ])
    func `any value in the place of any other gives a configuration or errors`(value: String) {
        let lines = everyKey.split(separator: "\n")
        for (index, line) in lines.enumerated() {
            guard let colon = line.firstRange(of: ": ") else { continue }
            var changed = lines
            changed[index] = line[..<colon.upperBound] + Substring(value)
            expectOutcome(of: Array(changed.joined(separator: "\n").utf8))
        }
    }

    @Test func `very many errors are counted, and the first of them told`() {
        let unknown = (0..<20_000).map { "listen\($0): 1\n" }.joined()
        let report = report(unknown + smallest)
        #expect(report.lines.count == 101 && report.errorLines == report.lines)
        #expect(report.lines[0].hasSuffix("listen0: unknown key; did you mean 'listen'?"))
        #expect(report.lines[100] == "c.yaml:101:1: error: and 19900 more of severity error from here on")
        #expect(report.configuration == nil && report.problems.count == 20_000)
    }

    private func expectOutcome(of text: [UInt8]) {
        let report = ConfigurationReport(text, file: "c.yaml", environment: { _ in nil })
        #expect((report.configuration == nil) == report.problems.contains { $0.severity == .error })
    }
}
