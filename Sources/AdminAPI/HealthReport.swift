// SPDX-License-Identifier: Apache-2.0

/// The workers that do not turn, if there are any.
package struct HealthReport: Equatable, Sendable {
    package let silentWorkers: [String]

    package init(silentWorkers: [String]) { self.silentWorkers = silentWorkers }

    private static let well = "ok"
    private static let stillness = "standing still: "
    private static let separator = ", "

    /// Reads ``text``.
    package init?(reading body: [UInt8]) {
        let lines = String(decoding: body, as: UTF8.self).split(whereSeparator: \.isNewline)
        guard let line = lines.first, lines.count == 1 else { return nil }
        if line == Self.well {
            silentWorkers = []
        } else if line.hasPrefix(Self.stillness) {
            silentWorkers = line.dropFirst(Self.stillness.count).split(separator: Self.separator).map(
                String.init)
        } else {
            return nil
        }
    }

    package var text: String { silentWorkers.isEmpty ? Self.well : trouble }

    /// The trouble in words; empty without any.
    package var trouble: String {
        silentWorkers.isEmpty ? "" : Self.stillness + silentWorkers.joined(separator: Self.separator)
    }
}
