// SPDX-License-Identifier: Apache-2.0

/// The advice for somebody who must log in.
enum LoginAdvice {
    /// - Parameter page: the status page, where no command can help.
    static func text(for identity: String, at page: String? = nil) -> String {
        page.map { "log in at \($0)" } ?? "run 'bearerd login \(identity)'"
    }
}
