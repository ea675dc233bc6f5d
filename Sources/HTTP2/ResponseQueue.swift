// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem

/// Heads of one response that have arrived and nobody has taken, in their order; nearly always there is one.
struct ResponseQueue {
    private var first = HTTPResponse()
    private var others: [HTTPResponse] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Appends a head with that status, and takes its fields in exchange for memory that is used again.
    mutating func append(status: Int, fields: inout HTTPFields) {
        guard isEmpty else {
            var head = HTTPResponse(status: status, fields: fields)
            head.version = .http2
            others.append(head)
            count += 1
            return
        }
        first.status = status
        first.version = .http2
        swap(&first.fields, &fields)
        count = 1
    }

    /// Takes the first head, of which there must be one, in exchange for memory that is used again.
    mutating func takeFirst(into other: inout HTTPResponse) {
        precondition(!isEmpty, "there is no head")
        swap(&first, &other)
        let phrase = ReasonPhrase.of(other.status)
        other.reasonBytes.replaceAll(with: phrase.utf8.span)
        count -= 1
        if count > 0 { first = others.removeFirst() }
    }
}
