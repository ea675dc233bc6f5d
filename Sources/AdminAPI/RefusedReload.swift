// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSON
package import OAuth

/// A reload that was refused, and none has succeeded since: the old configuration is in force.
package struct RefusedReload: Equatable, Sendable {
    package let at: WallTime
    /// The reason in one line.
    package let detail: String
    /// The errors of the file.
    package let faults: [ConfigurationFault]
    /// The keys that only a restart can change.
    package let keys: [String]

    package init(at: WallTime, detail: String, faults: [ConfigurationFault] = [], keys: [String] = []) {
        self.at = at
        self.detail = detail
        self.faults = faults
        self.keys = keys
    }

    /// Reads ``json``; nil if it is no refusal.
    init?(_ json: JSONValue) {
        guard let at = WallTime(json[.at]), let detail = json[.detail]?.string else { return nil }
        self.init(
            at: at, detail: detail, faults: json[.errors]?.array?.compactMap { ConfigurationFault($0) } ?? [],
            keys: json.strings(.keys))
    }

    /// A line for each reason: `FILE:LINE:COLUMN: KEY: MESSAGE`, or the keys that need a restart.
    package var reasons: [String] {
        faults.isEmpty ? [detail] : faults.map { "\($0.place): \($0.sentence)" }
    }

    /// `{"at":…,"detail":…,"errors":[…],"keys":[…]}`.
    var json: JSONValue {
        JSONValue(admin: [
            .at: Optional(at).json, .detail: .string(detail), .errors: .array(faults.map(\.json)),
            .keys: .array(keys.map { .string($0) }),
        ])
    }
}
