// SPDX-License-Identifier: Apache-2.0

import CBearerdLibyaml

/// libyaml's event parser over bytes that it owns (`yaml_parser_t`).
struct YAMLParser: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let text: UnsafeMutableBufferPointer<UInt8>
    private let bytes: [UInt8]

    /// Begins to parse `bytes`, which must be UTF-8.
    ///
    /// - Throws: only if there is no memory (`yaml_parser_initialize`).
    init(_ bytes: [UInt8]) throws(YAMLError) {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            throw YAMLError(mark: .start, reason: .outOfMemory)
        }
        self.parser = parser
        self.bytes = bytes
        // libyaml keeps a pointer to its input until yaml_parser_delete: the copy lives as long as the parser.
        text = .allocate(capacity: bytes.count)
        _ = text.initialize(from: bytes)
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        let bom = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        yaml_parser_set_input_string(parser, text.baseAddress.map { $0 + bom }, bytes.count - bom)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        text.deallocate()
    }

    /// The next event (`yaml_parser_parse`); after an error there is none.
    mutating func next() throws(YAMLError) -> YAMLEvent {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw failure() }
        defer { yaml_event_delete(&event) }
        let mark = Mark(event.start_mark)
        switch event.type {
        case YAML_STREAM_START_EVENT: return YAMLEvent(kind: .streamStart, mark: mark)
        case YAML_DOCUMENT_START_EVENT: return YAMLEvent(kind: .documentStart, mark: mark)
        case YAML_DOCUMENT_END_EVENT: return YAMLEvent(kind: .documentEnd, mark: mark)
        case YAML_ALIAS_EVENT:
            return YAMLEvent(kind: .alias(anchor: String(yaml: event.data.alias.anchor) ?? ""), mark: mark)
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let properties = YAMLEvent.Properties(scalar.anchor, scalar.tag)
            let text = String(
                decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            let style = scalar.style == YAML_PLAIN_SCALAR_STYLE ? YAMLScalar.Style.plain : .quoted
            return YAMLEvent(
                kind: .scalar(YAMLScalar(text, style: style), properties: properties), mark: mark)
        case YAML_SEQUENCE_START_EVENT:
            let start = event.data.sequence_start
            return YAMLEvent(kind: .sequenceStart(.init(start.anchor, start.tag)), mark: mark)
        case YAML_SEQUENCE_END_EVENT: return YAMLEvent(kind: .sequenceEnd, mark: mark)
        case YAML_MAPPING_START_EVENT:
            let start = event.data.mapping_start
            return YAMLEvent(kind: .mappingStart(.init(start.anchor, start.tag)), mark: mark)
        case YAML_MAPPING_END_EVENT: return YAMLEvent(kind: .mappingEnd, mark: mark)
        default:
            // YAML_STREAM_END_EVENT, and YAML_NO_EVENT, which libyaml gives after the end of the stream.
            return YAMLEvent(kind: .streamEnd, mark: mark)
        }
    }

    private func failure() -> YAMLError {
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? "not YAML"
        if parser.pointee.error == YAML_MEMORY_ERROR {
            return YAMLError(mark: .start, reason: .outOfMemory)
        }
        if parser.pointee.error == YAML_READER_ERROR {
            // The reader knows offsets only. It counts from behind the byte order mark, which is one column.
            let offset = min(parser.pointee.problem_offset, bytes.count)
            return YAMLError(mark: Mark(of: offset, in: bytes), reason: .syntax(problem))
        }
        let mark = Mark(parser.pointee.problem_mark)
        if let tab = Mark(ofTabIndenting: mark.line, in: bytes) { return YAMLError(mark: tab, reason: .tab) }
        let context = parser.pointee.context.map { String(cString: $0) + ": " } ?? ""
        let began = Mark(parser.pointee.context_mark)
        return YAMLError(
            mark: mark,
            reason: .syntax(SyntaxWords.words(for: problem, context, line: began.line) ?? context + problem))
    }
}

extension Mark {
    /// The first tab in the indentation of a line, which may include the signs of lists and keys; nil if there is
    /// none.
    fileprivate init?(ofTabIndenting line: Int, in bytes: [UInt8]) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.indices.contains(line - 1) else { return nil }
        let blanks = lines[line - 1].prefix { " \t-?:".utf8.contains($0) }
        guard let tab = blanks.firstIndex(of: UInt8(ascii: "\t")) else { return nil }
        self.init(line: line, column: tab - blanks.startIndex + 1)
    }

    /// Converts libyaml's mark, which counts from 0.
    fileprivate init(_ mark: yaml_mark_t) {
        self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }
}

extension YAMLEvent.Properties {
    fileprivate init(_ anchor: UnsafeMutablePointer<yaml_char_t>?, _ tag: UnsafeMutablePointer<yaml_char_t>?)
    {
        self.init(anchor: String(yaml: anchor), tag: String(yaml: tag))
    }
}

extension String {
    /// A copy of a NUL-terminated text; nil for a null pointer.
    fileprivate init?(yaml text: UnsafeMutablePointer<yaml_char_t>?) {
        guard let text else { return nil }
        self.init(cString: text)
    }
}
