// SPDX-License-Identifier: Apache-2.0

/// The advice for somebody who must log in.
enum LoginAdvice {
    static func text(for identity: String) -> String { "run 'bearerd login \(identity)'" }
}
