// SPDX-License-Identifier: Apache-2.0

internal import CBearerdJansson

extension JSONValue {
    /// How deep arrays and objects may nest.
    ///
    /// jansson itself stops at 2048; values are walked recursively, and a hostile answer should not choose
    /// our stack depth.
    package static let maximumDepth = 64

    /// Parses one JSON text, whatever its top level (RFC 8259 §2, `json_loadb`).
    ///
    /// Of members with equal names the last one counts, as JWT readers do (RFC 7519 §4). An integer that does
    /// not fit 64 bits becomes a real. A name with U+0000 is malformed, in values it is allowed.
    ///
    /// - Parameter text: UTF-8 without byte order mark; anything after the value but white space is
    ///   malformed.
    /// - Throws: ``JSONError``; no input traps.
    package init(parsing text: [UInt8]) throws(JSONError) {
        do {
            self = try JSONValue.load(text, flags: JSON_DECODE_ANY | JSON_ALLOW_NUL)
        } catch .numberOutOfRange {
            // One huge integer must not cost us the token next to it: read all numbers as reals instead.
            self = try JSONValue.load(text, flags: JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL)
        }
    }

    /// Parses one JSON text.
    ///
    /// - Parameter text: as for the bytes of it.
    /// - Throws: ``JSONError``.
    package init(parsing text: String) throws(JSONError) {
        try self.init(parsing: Array(text.utf8))
    }

    private static func load(_ text: [UInt8], flags: CInt) throws(JSONError) -> JSONValue {
        var failure = json_error_t()
        let loaded = text.withUnsafeBytes { bytes in
            // jansson refuses a null pointer, which an empty array may have.
            guard let start = bytes.baseAddress else { return json_loadb("", 0, Int(flags), &failure) }
            return json_loadb(start, bytes.count, Int(flags), &failure)
        }
        guard let loaded else { throw JSONError(failure) }
        defer { json_decref(loaded) }
        return try JSONValue(
            copying: loaded, depth: 0, integersAreReals: flags & JSON_DECODE_INT_AS_REAL != 0)
    }

    private init(
        copying node: UnsafeMutablePointer<json_t>, depth: Int, integersAreReals: Bool
    ) throws(JSONError) {
        guard depth <= JSONValue.maximumDepth else { throw .tooDeep }
        switch node.pointee.type {
        case JSON_NULL: self = .null
        case JSON_TRUE: self = .bool(true)
        case JSON_FALSE: self = .bool(false)
        case JSON_INTEGER: self = .integer(json_integer_value(node))
        case JSON_REAL:
            let value = json_real_value(node)
            let exact = integersAreReals && value.magnitude < 0x1p53 ? Int64(exactly: value) : nil
            self = exact.map(JSONValue.integer) ?? .real(value)
        case JSON_STRING:
            self = .string(JSONValue.text(json_string_value(node), json_string_length(node)))
        case JSON_ARRAY:
            var elements: [JSONValue] = []
            let count = json_array_size(node)
            elements.reserveCapacity(count)
            for index in 0..<count {
                guard let element = json_array_get(node, index) else { continue }
                elements.append(
                    try JSONValue(copying: element, depth: depth + 1, integersAreReals: integersAreReals))
            }
            self = .array(elements)
        default:
            // JSON_OBJECT: json_type is a C enumeration of exactly these eight.
            var members: [(name: String, value: JSONValue)] = []
            members.reserveCapacity(json_object_size(node))
            var iterator = json_object_iter(node)
            while let current = iterator {
                if let value = json_object_iter_value(current) {
                    let name = JSONValue.text(
                        json_object_iter_key(current), json_object_iter_key_len(current))
                    let copy = try JSONValue(
                        copying: value, depth: depth + 1, integersAreReals: integersAreReals)
                    members.append((name, copy))
                }
                iterator = json_object_iter_next(node, current)
            }
            self = .object(JSONObject(distinct: members))
        }
    }

    private static func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
        let bytes = UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension JSONObject {
    /// Parses one JSON text that must be an object.
    ///
    /// - Parameter text: as for ``JSONValue``.
    /// - Throws: ``JSONError``, ``JSONError/notAnObject`` among them.
    package init(parsing text: [UInt8]) throws(JSONError) {
        guard case .object(let object) = try JSONValue(parsing: text) else { throw .notAnObject }
        self = object
    }
}

extension JSONError {
    /// Keeps the code and the place; jansson's text quotes the input and is dropped.
    fileprivate init(_ failure: json_error_t) {
        // The last byte of the text holds the code (`json_error_code`, a static inline).
        var failure = failure
        switch json_error_code(&failure) {
        case json_error_numeric_overflow: self = .numberOutOfRange
        case json_error_stack_overflow: self = .tooDeep
        case json_error_out_of_memory: self = .outOfMemory
        default:
            self = .malformed(
                line: Int(failure.line), column: Int(failure.column), offset: Int(failure.position))
        }
    }
}
