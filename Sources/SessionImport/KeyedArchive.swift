// SPDX-License-Identifier: Apache-2.0

internal import BearerdPropertyList

/// The object graph of an `NSKeyedArchiver`: a list of objects with references between them.
///
/// Each lookup follows one reference, so cycles are harmless.
struct KeyedArchive {
    private let objects: [PropertyListValue]
    /// The first object of the graph.
    let root: PropertyListValue

    /// - Throws: `ImportError` for a property list that is no keyed archive.
    init(_ list: PropertyListValue) throws(ImportError) {
        guard let members = list.dictionary, members["$archiver"]?.string == "NSKeyedArchiver",
            let objects = members["$objects"]?.array, let top = members["$top"]?.dictionary,
            let first = top["root"] ?? (top.count == 1 ? top.values.first : nil)
        else { throw .malformed("it is no keyed archive") }
        self.objects = objects
        root = first
    }

    /// The members of an object, perhaps given by reference.
    func object(_ value: PropertyListValue?) -> [String: PropertyListValue]? { resolved(value)?.dictionary }

    /// A string, mutable or not, or the text of a URL.
    func string(_ value: PropertyListValue?) -> String? {
        switch resolved(value) {
        case .string("$null"): nil
        case .string(let text): text
        case .dictionary(let members):
            (resolved(members["NS.string"]) ?? resolved(members["NS.relative"]))?.string
        case .bool, .uid, .array, .other, nil: nil
        }
    }

    /// The values of a dictionary, for those of its keys that are strings.
    func dictionary(_ value: PropertyListValue?) -> [String: PropertyListValue] {
        guard let members = object(value), let keys = members["NS.keys"]?.array,
            let values = members["NS.objects"]?.array
        else { return [:] }
        var result: [String: PropertyListValue] = [:]
        for (key, value) in zip(keys, values) {
            if let key = string(key) { result[key] = value }
        }
        return result
    }

    private func resolved(_ value: PropertyListValue?) -> PropertyListValue? {
        guard case .uid(let number)? = value else { return value }
        guard let index = Int(exactly: number), objects.indices.contains(index) else { return nil }
        return objects[index]
    }
}
