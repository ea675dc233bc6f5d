// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibplist
import Glibc

extension PropertyListValue {
    private static let maximumBytes = 1 << 20
    private static let maximumDepth = 64

    /// Reads a binary or XML property list (`plist_from_memory`).
    ///
    /// - Throws: ``PropertyListError``.
    package init(parsing bytes: [UInt8]) throws(PropertyListError) {
        guard bytes.count <= Self.maximumBytes else { throw .tooComplex }
        if bytes.starts(with: BinaryShape.magic) {
            try BinaryShape(bytes).check()
        } else {
            try XMLShape.check(bytes)
        }
        var root: plist_t?
        bytes.withUnsafeBytes { buffer in
            plist_from_memory(
                buffer.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(buffer.count), &root)
        }
        guard let root else { throw .malformed }
        defer { plist_free(root) }
        self = try Self.value(of: root, depth: 0)
    }

    private static func value(of node: plist_t, depth: Int) throws(PropertyListError) -> PropertyListValue {
        guard depth < maximumDepth else { throw .tooComplex }
        switch plist_get_node_type(node) {
        case PLIST_BOOLEAN:
            var value: UInt8 = 0
            plist_get_bool_val(node, &value)
            return .bool(value != 0)
        case PLIST_STRING:
            return .string(text(of: node))
        case PLIST_UID:
            var value: UInt64 = 0
            plist_get_uid_val(node, &value)
            return .uid(value)
        case PLIST_ARRAY:
            return try array(of: node, depth: depth)
        case PLIST_DICT:
            return try dictionary(of: node, depth: depth)
        default:
            return .other
        }
    }

    private static func array(of node: plist_t, depth: Int) throws(PropertyListError) -> PropertyListValue {
        var iterator: plist_array_iter?
        plist_array_new_iter(node, &iterator)
        defer { free(iterator) }
        var elements: [PropertyListValue] = []
        while true {
            var element: plist_t?
            plist_array_next_item(node, iterator, &element)
            guard let element else { return .array(elements) }
            elements.append(try value(of: element, depth: depth + 1))
        }
    }

    private static func dictionary(
        of node: plist_t, depth: Int
    ) throws(PropertyListError) -> PropertyListValue {
        var iterator: plist_dict_iter?
        plist_dict_new_iter(node, &iterator)
        defer { free(iterator) }
        var members: [String: PropertyListValue] = [:]
        var uid: UInt64?
        while true {
            var name: UnsafeMutablePointer<CChar>?
            var member: plist_t?
            plist_dict_next_item(node, iterator, &name, &member)
            defer { free(name) }
            guard let member else { break }
            let key = name.map { String(cString: $0) } ?? ""
            if key == "CF$UID", plist_get_node_type(member) == PLIST_UINT {
                var value: UInt64 = 0
                plist_get_uint_val(member, &value)
                uid = value
            }
            members[key] = try value(of: member, depth: depth + 1)
        }
        if let uid, members.count == 1 { return .uid(uid) }
        return .dictionary(members)
    }

    private static func text(of node: plist_t) -> String {
        var length: UInt64 = 0
        guard let start = plist_get_string_ptr(node, &length) else { return "" }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(length))
        return String(decoding: bytes, as: UTF8.self)
    }
}
