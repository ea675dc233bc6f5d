// SPDX-License-Identifier: Apache-2.0

package import BearerdSystem

extension KnownFieldName {
    /// All of them by their raw values.
    package static let table = FieldNameTable(
        allCases.map(\.spelling), connection: Int(connection.rawValue))

    /// The known name at `range` of `bytes`, or ``other``.
    package static func find(in bytes: Span<UInt8>, _ range: Range<Int>) -> KnownFieldName {
        KnownFieldName(rawValue: table.find(in: bytes, range)) ?? .other
    }
}
