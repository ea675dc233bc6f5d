// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// The field `Retry-After` (RFC 9110 §10.2.3): seconds, or a date.
package enum RetryAfter {
    /// Longer delays are cut to this.
    static let longest: Duration = .seconds(300)

    /// The delay that the field asks for; nil if it is missing, unreadable or in the past.
    ///
    /// - Parameter wall: the civil time; without it a date counts as unreadable.
    package static func delay(in fields: HTTPFields, wall: WallTime?) -> Duration? {
        guard let text = fields[.retryAfter] else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) {
            return min(.seconds(Int64(text) ?? .max / 2), longest)
        }
        guard let wall, let date = WallTime(httpDate: text), date > wall else { return nil }
        return min(date - wall, longest)
    }
}

extension WallTime {
    /// Reads a field like `Date` (RFC 9110 §6.6.1).
    ///
    /// - Returns: nil for what is no date between 1970 and 9999.
    package init?(httpDate text: String) {
        guard let second = HTTPDate.unixSeconds(text) else { return nil }
        self.init(secondsSinceEpoch: second)
    }
}
