// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSONText

extension JSONValue {
    /// The value as UTF-8 JSON text.
    ///
    /// A real that is infinite or NaN, for which JSON has no spelling, is written as `null`.
    ///
    /// - Parameter pretty: two spaces of indentation and a final line end, for people and for files.
    /// - Returns: the text.
    package func serialized(pretty: Bool = false) -> [UInt8] {
        var writer = JSONWriter(pretty: pretty)
        writer.write(self)
        if pretty { writer.output.append(UInt8(ascii: "\n")) }
        return writer.output
    }
}

extension JSONObject {
    /// The object as UTF-8 JSON text, as ``JSONValue/serialized(pretty:)``.
    ///
    /// - Parameter pretty: two spaces of indentation and a final line end.
    /// - Returns: the text.
    package func serialized(pretty: Bool = false) -> [UInt8] {
        JSONValue.object(self).serialized(pretty: pretty)
    }
}

/// Writes values one after the other into one block of bytes.
private struct JSONWriter {
    let pretty: Bool
    var output: [UInt8] = []
    private var depth = 0

    init(pretty: Bool) {
        self.pretty = pretty
    }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: output += "null".utf8
        case .bool(let value): output += (value ? "true" : "false").utf8
        case .integer(let value): output += String(value).utf8
        case .real(let value): output += (value.isFinite ? value.description : "null").utf8
        case .string(let value): output.append(jsonString: value)
        case .array(let elements):
            write(elements, between: "[", "]") { writer, element in writer.write(element) }
        case .object(let object):
            write(Array(object), between: "{", "}") { writer, member in
                writer.output.append(jsonString: member.name)
                writer.output += (writer.pretty ? ": " : ":").utf8
                writer.write(member.value)
            }
        }
    }

    private mutating func write<Element>(
        _ elements: [Element], between open: String, _ close: String,
        each write: (inout JSONWriter, Element) -> Void
    ) {
        output += open.utf8
        depth += 1
        for (index, element) in elements.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            breakLine()
            write(&self, element)
        }
        depth -= 1
        if !elements.isEmpty { breakLine() }
        output += close.utf8
    }

    private mutating func breakLine() {
        guard pretty else { return }
        output.append(UInt8(ascii: "\n"))
        output += repeatElement(UInt8(ascii: " "), count: 2 * depth)
    }
}
