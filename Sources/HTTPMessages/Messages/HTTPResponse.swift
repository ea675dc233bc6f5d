// SPDX-License-Identifier: Apache-2.0

/// The head of a response (RFC 9112 §4, §5).
///
/// Reuse one for parsing: after the first few messages that allocates nothing.
package struct HTTPResponse: Sendable {
    /// The status code, 100 to 999.
    package var status: Int
    /// The version of the received message; the codec sends its own (RFC 9110 §2.5).
    package var version: HTTPVersion
    package var fields: HTTPFields
    package var reasonBytes: [UInt8]

    /// A response with the status' usual reason phrase.
    package init(status: Int, fields: HTTPFields = HTTPFields()) {
        self.status = status
        self.version = .http11
        self.fields = fields
        self.reasonBytes = Array(ReasonPhrase.of(status).utf8)
    }

    /// An empty response to parse into.
    package init() {
        status = 200
        version = .http11
        fields = HTTPFields()
        reasonBytes = []
    }

    /// The reason phrase, with invalid UTF-8 replaced; setting leaves out control bytes.
    package var reason: String {
        get { String(decoding: reasonBytes, as: UTF8.self) }
        set { reasonBytes = newValue.utf8.filter(\.isFieldContent) }
    }

    /// True if a final response follows (RFC 9110 §15.2); 101 ends HTTP on the connection instead.
    package var isInterim: Bool { Self.isInterim(status) }

    package static func isInterim(_ status: Int) -> Bool { status < 200 && status != 101 }

    /// Resets it, keeping the memory.
    package mutating func removeAll(keepingCapacity: Bool = true) {
        status = 200
        version = .http11
        reasonBytes.removeAll(keepingCapacity: keepingCapacity)
        fields.removeAll(keepingCapacity: keepingCapacity)
    }
}
