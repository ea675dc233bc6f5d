// SPDX-License-Identifier: Apache-2.0

/// The head of a message as it stood on the wire: a start line and the fields, in order.
package struct RawHead: Sendable, CustomStringConvertible {
    /// Every byte, the empty line included.
    package let raw: [UInt8]
    /// The first line, without its line end.
    package let startLine: String
    /// Names and values in order, names in the case in which they came.
    package let fields: [(name: String, value: String)]

    package init(raw: [UInt8]) {
        self.raw = raw
        let lines = String(decoding: raw, as: UTF8.self).split(
            separator: "\r\n", omittingEmptySubsequences: false)
        startLine = lines.first.map(String.init) ?? ""
        fields = RawHead.fields(in: lines.dropFirst())
    }

    static func fields(in lines: some Sequence<Substring>) -> [(name: String, value: String)] {
        lines.compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            return (String(line[..<colon]), String(value))
        }
    }

    /// The first value of a field, found without regard to case.
    package subscript(name: String) -> String? { values(name).first }

    /// Every value of a field, in order.
    package func values(_ name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// The words of the start line.
    package var words: [String] { startLine.split(separator: " ", maxSplits: 2).map(String.init) }

    /// A request's method.
    package var method: String { words.first ?? "" }

    /// A request's target.
    package var target: String { words.count > 1 ? words[1] : "" }

    /// A response's status; 0 if there is none.
    package var status: Int { words.count > 1 ? Int(words[1]) ?? 0 : 0 }

    package var description: String { String(decoding: raw, as: UTF8.self) }
}

/// A request as a server of the test received it.
package struct RawRequest: Sendable {
    /// The head.
    package let head: RawHead
    /// The body with its transfer coding removed.
    package let body: [UInt8]
    /// The trailer fields of a chunked body.
    package let trailers: [(name: String, value: String)]

    /// A field of the head.
    package subscript(name: String) -> String? { head[name] }

    /// The body as text.
    package var text: String { String(decoding: body, as: UTF8.self) }
}

/// A response as a client of the test received it.
package struct RawResponse: Sendable {
    /// The 1xx answers before it.
    package let interim: [RawHead]
    /// The head.
    package let head: RawHead
    /// The body with its transfer coding removed.
    package let body: [UInt8]
    /// The trailer fields of a chunked body.
    package let trailers: [(name: String, value: String)]
    /// False if the connection ended before the body did.
    package let isComplete: Bool
    /// Every byte of head and body as they stood on the wire.
    package let raw: [UInt8]

    /// The status.
    package var status: Int { head.status }

    /// A field of the head.
    package subscript(name: String) -> String? { head[name] }

    /// The body as text.
    package var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON; null if it is not.
    package var json: TestJSON { TestJSON(parsing: text) ?? .null }

    /// The `code` of a problem document.
    package var problem: String? { json["code"].string }
}
