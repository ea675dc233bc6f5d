// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdJSONText

/// Encodes spans as OTLP 1.5 in JSON (`ExportTraceServiceRequest`): identifiers in hexadecimal, 64-bit
/// numbers as strings.
package enum TraceDocument {
    /// Encodes a batch of spans.
    package static func bytes(of spans: [TraceSpan], service: String, version: String) -> [UInt8] {
        var text = Writer()
        text.raw(#"{"resourceSpans":[{"resource":{"attributes":["#)
        text.attribute(.serviceName, .text(service))
        text.raw(",")
        text.attribute(.serviceVersion, .text(version))
        text.raw(#"]},"scopeSpans":[{"scope":{"name":"bearerd","version":"#)
        text.string(version)
        text.raw(#"},"spans":["#)
        for (index, span) in spans.enumerated() {
            if index > 0 { text.raw(",") }
            text.span(span)
        }
        text.raw("]}]}]}")
        return text.bytes
    }
}

private struct Writer {
    private(set) var bytes: [UInt8] = []

    mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

    mutating func string(_ text: String) { bytes.append(jsonString: text) }

    mutating func span(_ span: TraceSpan) {
        raw("{")
        identifiers(of: span.context)
        if let parent = span.parent { raw(#","parentSpanId":"\#(TraceContext.text(parent))""#) }
        raw(#","name":"#)
        string(span.name)
        raw(#","kind":\#(span.kind.rawValue),"startTimeUnixNano":"\#(span.start)""#)
        raw(#","endTimeUnixNano":"\#(max(span.start, span.end))","attributes":["#)
        for (index, attribute) in span.attributes.enumerated() {
            if index > 0 { raw(",") }
            self.attribute(attribute.key, attribute.value)
        }
        raw("]")
        if !span.links.isEmpty { links(span.links) }
        raw(span.isError ? #","status":{"code":2}}"# : #","status":{}}"#)
    }

    mutating func attribute(_ key: SpanKey, _ value: TraceSpan.Value) {
        raw(#"{"key":"\#(key.rawValue)","value":{"#)
        switch value {
        case .text(let text):
            raw(#""stringValue":"#)
            string(text)
        case .number(let number): raw(#""intValue":"\#(number)""#)
        }
        raw("}}")
    }

    private mutating func links(_ links: [TraceContext]) {
        raw(#","links":["#)
        for (index, link) in links.enumerated() {
            raw(index > 0 ? ",{" : "{")
            identifiers(of: link)
            raw("}")
        }
        raw("]")
    }

    private mutating func identifiers(of context: TraceContext) {
        raw(#""traceId":"\#(context.traceIDText)","spanId":"\#(context.spanIDText)""#)
    }
}
