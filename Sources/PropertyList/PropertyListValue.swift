// SPDX-License-Identifier: Apache-2.0

/// A value of an Apple property list, binary or XML.
package enum PropertyListValue: Sendable, Equatable {
    /// `true` or `false`.
    case bool(Bool)
    /// A string; bytes that are not UTF-8 are replaced by U+FFFD.
    case string(String)
    /// A reference of a keyed archive to another of its objects; in XML a dictionary of `CF$UID` alone.
    case uid(UInt64)
    /// An array.
    case array([PropertyListValue])
    /// A dictionary; of equal keys the last one counts.
    case dictionary([String: PropertyListValue])
    /// A number, a date or data, which nobody here reads.
    case other
}

extension PropertyListValue {
    /// The value of a string.
    package var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// The elements of an array.
    package var array: [PropertyListValue]? {
        guard case .array(let value) = self else { return nil }
        return value
    }

    /// The members of a dictionary.
    package var dictionary: [String: PropertyListValue]? {
        guard case .dictionary(let value) = self else { return nil }
        return value
    }
}
