// SPDX-License-Identifier: Apache-2.0

import BearerdJSON

extension JSONObject {
    /// A claim that is an array of strings; a single string counts as one (RFC 7519 §4.1.3).
    func strings(_ claim: String) -> [String] {
        self[claim]?.string.map { [$0] } ?? self[claim]?.array?.compactMap(\.string) ?? []
    }
}
