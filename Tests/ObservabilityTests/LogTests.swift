// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import Testing

struct `The log` {
    private let sink = CollectingSink()

    private func log(_ format: LogFormat, level: LogLevel = .trace) -> Log {
        Log(level: level, format: format, sink: sink, unixMilliseconds: { 1_795_257_954_007 })
    }

    @Test func `a JSON line has time, level, message and the fields in order`() {
        log(.json).notice(
            "token renewed", [.identity: "default", .generation: 3, .duration: .duration(.milliseconds(12))])
        #expect(
            sink.text
                == #"{"time":"2026-11-21T10:45:54.007Z","level":"notice","message":"token renewed","#
                + #""identity":"default","generation":3,"duration_seconds":0.012000}"# + "\n")
    }

    @Test func `a text line reads as a sentence with pairs`() {
        log(.text).warning(
            "upstream refused the token", [.route: "/", .reason: "two words", .replayed: false])
        #expect(
            sink.text
                == #"2026-11-21T10:45:54.007Z warning upstream refused the token route=/ reason="two words" replayed=false"#
                + "\n")
    }

    @Test func `a text line on a terminal has its level and its keys in colour, and a value has none`() {
        log(.colouredText).warning("refused", [.reason: "\u{1B}[31mred"])
        log(.colouredText).info("drained")
        #expect(
            sink.text
                == "2026-11-21T10:45:54.007Z \u{1B}[33mwarning\u{1B}[0m refused \u{1B}[2mreason=\u{1B}[0m\"\\u001b[31mred\"\n"
                + "2026-11-21T10:45:54.007Z info    drained\n")
    }

    @Test func `a line without fields ends cleanly`() {
        log(.text).info("drained")
        log(.json).info("drained")
        #expect(
            sink.text
                == "2026-11-21T10:45:54.007Z info    drained\n"
                + #"{"time":"2026-11-21T10:45:54.007Z","level":"info","message":"drained"}"# + "\n")
    }

    @Test func `lines below the level are not written`() {
        let quiet = log(.json, level: .warning)
        quiet.debug("one")
        quiet.notice("two")
        quiet.error("three")
        #expect(sink.text.contains("three") && !sink.text.contains("one") && !sink.text.contains("two"))
        #expect(!quiet.writes(.notice) && quiet.writes(.error))
    }

    @Test func `context goes along with every line`() {
        log(.json).with(.identity, "default").info("started", [.state: "empty"])
        #expect(sink.text.contains(#""message":"started","identity":"default","state":"empty"}"#))
    }

    @Test func `a value cannot break out of its line or its string`() {
        let hostile = "a\"b\\c\nd\u{1B}[31m\u{7F}\u{9B}é"
        log(.json).info("x", [.error: .string(hostile)])
        #expect(sink.text.hasSuffix(#""error":"a\"b\\c\nd\u001b[31m\u007f\u009bé"}"# + "\n"))
        #expect(sink.text.utf8.count { $0 == 0x0A } == 1)
    }

    @Test(arguments: [LogFormat.text, .json])
    func `a long value is cut between characters`(format: LogFormat) {
        log(format).info("x", [.error: .string(String(repeating: "é", count: 5000))])
        #expect(sink.text.contains("é…\""))
        #expect(sink.text.utf8.count < 1200)
    }

    @Test func `an empty value is visible in text`() {
        log(.text).info("x", [.error: ""])
        #expect(sink.text.hasSuffix("error=\"\"\n"))
    }
}
