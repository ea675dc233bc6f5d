// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdJSON

/// A part of the status page that changes, with its place.
struct PagePart: Sendable {
    /// The `id` of the element that contains it.
    let id: String
    let content: HTMLText

    init(_ id: String, _ content: HTMLText) {
        self.id = id
        self.content = content
    }

    /// The server-sent event that updates the part.
    var event: String {
        let data: JSONValue = ["id": .string(id), "html": .string(content.markup)]
        return "event: part\ndata: \(String(decoding: data.serialized(), as: UTF8.self))\n\n"
    }
}
