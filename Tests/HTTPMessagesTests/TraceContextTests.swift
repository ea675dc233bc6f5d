// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

@Suite struct `A traceparent` {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    @Test(arguments: [("00", false), ("01", true), ("03", true), ("fe", false)])
    func `is read, of its flags the one that is known`(flags: String, isSampled: Bool) throws {
        let context = try #require(Self.read("00-\(Self.trace)-\(Self.span)-\(flags)"))
        #expect(context.traceIDText == Self.trace && context.spanIDText == Self.span)
        #expect(context.isSampled == isSampled)
        #expect(context.fieldValue == "00-\(Self.trace)-\(Self.span)-\(isSampled ? "01" : "00")")
    }

    @Test func `of a later version is read as far as this one goes`() {
        #expect(Self.read("cc-\(Self.trace)-\(Self.span)-01") != nil)
        #expect(Self.read("cc-\(Self.trace)-\(Self.span)-01-more") != nil)
        #expect(Self.read("cc-\(Self.trace)-\(Self.span)-01more") == nil)
    }

    @Test(arguments: [
        "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
        "0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-+1",
    ])
    func `that is not as the standard has it is none`(value: String) { #expect(Self.read(value) == nil) }

    @Test func `keeps its promises whatever it is`() throws {
        var random = RepeatableGenerator(seed: 0x07AC_0000_0000_0001)
        for file in try Corpus.files(of: "TraceContext") {
            #expect(Invariants.violation(traceparent: file.bytes) == nil, "\(file.name)")
            for _ in 0..<200 {
                var bytes = file.bytes
                guard let index = bytes.indices.randomElement(using: &random) else { break }
                bytes[index] = "0123456789abcdef-FG".utf8.randomElement(using: &random) ?? 0
                #expect(
                    Invariants.violation(traceparent: bytes) == nil,
                    "\(String(decoding: bytes, as: UTF8.self))")
            }
        }
    }

    private static func read(_ text: String) -> TraceContext? {
        let bytes = Array(text.utf8)
        return TraceContext(traceparent: bytes.span)
    }
}
