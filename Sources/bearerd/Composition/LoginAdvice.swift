// SPDX-License-Identifier: Apache-2.0

/// What somebody who must log in is told.
enum LoginAdvice {
    static func text(for identity: String) -> String { "run 'bearerd login \(identity)'" }
}
