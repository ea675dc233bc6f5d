// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

extension String {
    /// The text as markup that a browser may break behind each slash, as URLs and paths are read.
    var breakable: HTMLText {
        var parts = split(separator: "/", omittingEmptySubsequences: false).map(String.init)[...]
        var markup: HTMLText = "\(parts.popFirst() ?? "")"
        for part in parts {
            // Two slashes in a row stay together.
            markup += part.isEmpty ? "/" : "/<wbr>\(part)"
        }
        return markup
    }
}
