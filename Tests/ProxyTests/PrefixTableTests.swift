// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import BearerdTestSupport
import Testing

@testable import BearerdProxy

@Suite struct `The table of prefixes` {
    private static func path(_ generator: inout RepeatableGenerator) -> String {
        let segments = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
            ["a", "b", "ab", "abc", ""].randomElement(using: &generator) ?? ""
        }
        return "/" + segments.joined(separator: "/")
    }

    /// The first of the longest prefixes, found by a look at each.
    private static func longest(
        of path: [UInt8], among prefixes: [[UInt8]], where admits: (Int) -> Bool
    ) -> Int? {
        func length(_ position: Int) -> Int {
            prefixes[position].count - (prefixes[position].last == UInt8(ascii: "/") ? 1 : 0)
        }
        var found: Int?
        for position in prefixes.indices where admits(position) {
            let prefix = prefixes[position]
            guard RequestPath.hasPrefix(prefix.span, path.span) else { continue }
            if found.map({ length($0) < length(position) }) ?? true { found = position }
        }
        return found
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `finds what a look at each prefix finds`(seed: UInt64) {
        var generator = RepeatableGenerator(seed: seed)
        let prefixes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
            Array(Self.path(&generator).utf8)
        }
        let table = PrefixTable(prefixes)
        for _ in 0..<100 {
            let path = Array(Self.path(&generator).utf8)
            let left = Int.random(in: 0...2, using: &generator)
            let admits = { position in position % 3 != left }
            #expect(
                table.longest(of: path.span, where: admits)
                    == Self.longest(of: path, among: prefixes, where: admits),
                "\(String(decoding: path, as: UTF8.self))")
        }
        for position in prefixes.indices { #expect(table.sharing(position).contains(position)) }
    }

    @Test func `knows each of many, and what begins like one`() {
        let prefixes = (0..<1000).map { Array("/routes/\($0)".utf8) }
        let table = PrefixTable(prefixes)
        for number in [0, 1, 499, 999] {
            #expect(table.longest(of: Array("/routes/\(number)/x".utf8).span, where: { _ in true }) == number)
        }
        for path in ["/routes", "/routes/", "/routes/1000", "/routes/01", "/", "", "/routes/1x/1"] {
            #expect(table.longest(of: Array(path.utf8).span, where: { _ in true }) == nil)
        }
    }
}
