// SPDX-License-Identifier: Apache-2.0

import BearerdYAML
import Testing

@Suite struct `A YAML node` {
    @Test func `every value has the place where it begins`() throws {
        let text = """
            listen: 127.0.0.1:8080
            routes:
              - path: /
                methods: [GET, "POST"]
            """
        let root = try #require(try parse(text))
        #expect(root.mark == Mark(line: 1, column: 1))
        let listen = try #require(root["listen"])
        #expect(listen.mark == Mark(line: 1, column: 1))
        #expect(listen.value.mark == Mark(line: 1, column: 9))
        let route = try #require(root["routes"]?.value.items.first)
        #expect(route.mark == Mark(line: 3, column: 5))
        #expect(route["methods"]?.mark == Mark(line: 4, column: 5))
        #expect(
            route["methods"]?.value.items.map(\.mark) == [
                Mark(line: 4, column: 15), Mark(line: 4, column: 20),
            ])
    }

    @Test func `columns count characters, not bytes`() throws {
        let root = try #require(try parse("{ä: ö, ü: x}"))
        #expect(root["ü"]?.mark == Mark(line: 1, column: 8))
    }

    @Test(arguments: ["", "\n", "# nothing\n", "---\n# nothing\n", "---\n...\n"])
    func `a text without a value has no tree, or an empty one`(text: String) throws {
        let root = try parse(text)
        #expect(root == nil || root?.scalar?.isNull == true)
    }

    @Test func `a byte order mark is skipped`() throws {
        let root = try #require(try YAMLNode.parse([0xEF, 0xBB, 0xBF] + Array("a: 1".utf8)))
        #expect(root["a"]?.value.scalar?.integer == 1)
    }

    @Test func `a repeated key is kept apart with its place`() throws {
        let root = try #require(try parse("a: 1\nb: 2\na: 3\n"))
        guard case .mapping(let mapping) = root.content else {
            Issue.record("not a map")
            return
        }
        #expect(mapping.entries.map(\.key) == ["a", "b"])
        #expect(mapping["a"]?.value.scalar?.integer == 1)
        #expect(mapping.duplicates.map(\.mark) == [Mark(line: 3, column: 1)])
    }

    @Test func `an alias is the value of its anchor, at the anchor's place`() throws {
        let root = try #require(try parse("a: &x [1, 2]\nb: *x\n"))
        #expect(root["b"]?.value == root["a"]?.value)
    }

    @Test(arguments: [
        ("!!str 5", YAMLScalar.Style.quoted), ("! 5", .quoted), ("!!int 5", .plain), ("'5'", .quoted),
        ("!!int '5'", .plain), ("!!float \"5\"", .plain),
    ])
    func `a core tag says whether a value is a text`(text: String, style: YAMLScalar.Style) throws {
        #expect(try parse(text)?.scalar == YAMLScalar("5", style: style))
    }

    @Test func `quoted, folded and literal texts are resolved`() throws {
        let root = try #require(try parse("a: \"x\\ty\\u00e9\"\nb: >\n  one\n  two\nc: |\n  one\n  two\n"))
        #expect(root["a"]?.value.scalar?.text == "x\ty\u{e9}")
        #expect(root["b"]?.value.scalar?.text == "one two\n")
        #expect(root["c"]?.value.scalar?.text == "one\ntwo\n")
    }
}
