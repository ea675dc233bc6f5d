// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

extension String {
    /// The text as markup that a browser may break behind each slash, as URLs and paths are read.
    var breakable: HTMLText {
        let parts = split(separator: "/", omittingEmptySubsequences: false)
        var markup: HTMLText = "\(String(parts[0]))"
        for (before, part) in zip(parts, parts.dropFirst()) {
            // Two slashes in a row stay together, and stay with what is behind them.
            markup += before.isEmpty || part.isEmpty ? "/\(String(part))" : "/<wbr>\(String(part))"
        }
        return markup
    }
}
