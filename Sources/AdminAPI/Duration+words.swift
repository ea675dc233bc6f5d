// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The duration for a person, in its two largest units: `3 h 12 min`.
    package var words: String {
        let seconds = components.seconds
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60)
        if days > 0 { return "\(days) d" + (hours > 0 ? " \(hours) h" : "") }
        if hours > 0 { return "\(hours) h" + (minutes > 0 ? " \(minutes) min" : "") }
        if minutes > 0 { return "\(minutes) min" + (seconds % 60 > 0 ? " \(seconds % 60) s" : "") }
        return "\(max(0, seconds)) s"
    }
}
