// SPDX-License-Identifier: Apache-2.0

internal import BearerdAdminAPI
internal import BearerdHTTPMessages
internal import BearerdHTTPServer
internal import BearerdJSON

/// Server-sent events about the status (HTML Living Standard §9.2), once a second while somebody listens.
struct StatusEvents: Sendable {
    private static let interval = Duration.seconds(1)
    /// A client that takes no data for so long counts as gone.
    private static let sendTimeout = Duration.seconds(10)

    let memory: AdminMemory
    /// The party that asks, for the limit of streams.
    let watcher: String
    /// True while the configuration that the events are about is in force, and the key by which they were asked for.
    let isCurrent: @Sendable () -> Bool
    /// Makes the current page.
    let page: @Sendable () async -> StatusPage
    /// True to send the changed parts of the page, false to send the status document.
    let isForPage: Bool
    /// The mark of the configuration that the events are about, which its page has too.
    let mark: String

    /// The answer with the event stream; nil if the most streams are open already.
    var reply: ServiceReply? {
        guard memory.eventStreams.hasRoom(for: watcher) else { return nil }
        var head = HTTPResponse(status: 200)
        head.fields[.contentType] = "text/event-stream"
        return ServiceReply(head: head, body: .stream { writer in try await send(to: writer) })
    }

    private func send(to writer: ServiceBodyWriter) async throws {
        guard memory.eventStreams.enter(watcher) else { return }
        defer { memory.eventStreams.leave(watcher) }
        var shown: [String: String] = [:]
        // A page of another configuration, or of before a restart, has other things in the places that parts name.
        try await writer.write(
            Array("retry: 3000\nevent: of\ndata: \(mark)\n\n".utf8), within: Self.sendTimeout)
        while isCurrent() {
            let page = await page()
            var text = ""
            if isForPage {
                for part in page.parts where shown[part.id] != part.content.markup {
                    shown[part.id] = part.content.markup
                    text += part.event
                }
                // A page that hears nothing says so.
                if text.isEmpty { text = "event: alive\ndata:\n\n" }
            } else {
                text = "data: \(String(decoding: page.document.json.serialized(), as: UTF8.self))\n\n"
            }
            // Even without news somebody may have gone.
            try await writer.write(Array(text.utf8), within: Self.sendTimeout)
            try await writer.pause(for: Self.interval, whileTakenWithin: Self.sendTimeout)
        }
        try await writer.write(Array("event: stale\ndata:\n\n".utf8), within: Self.sendTimeout)
    }
}
