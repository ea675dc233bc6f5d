// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Testing

/// A requirement of a test that some machines do not meet.
package struct Needs: Sendable {
    private let isMet: @Sendable () -> Bool
    private let lack: String

    /// - Parameter lack: the reason for skipping the test.
    package init(orElse lack: String, _ isMet: @escaping @Sendable () -> Bool) {
        self.isMet = isMet
        self.lack = lack
    }

    /// Root rights.
    package static let root = Needs(orElse: "only root can do that") { geteuid() == 0 }

    /// A redis-server (`deploy/bootstrap redis-server`).
    package static let redis = Needs(orElse: "there is no redis-server") { RedisProcess.program != nil }

    /// libqrencode (`deploy/bootstrap libqrencode4`).
    package static let qrencode = Needs(orElse: "there is no libqrencode") {
        dlopen("libqrencode.so.4", RTLD_NOW) != nil
    }

    /// True if nothing may be skipped: `NO_SKIPS` is set where every requirement should be met, as by
    /// `.ci/run`.
    private static let isStrict = getenv("NO_SKIPS") != nil

    fileprivate func check() throws -> Bool {
        if isMet() { return true }
        if Needs.isStrict { throw WireError("NO_SKIPS is set, and \(lack)") }
        return false
    }

    fileprivate var comment: Comment { Comment(rawValue: lack) }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test where the machine lacks something, or fails it if `NO_SKIPS` is set.
    package static func needs(_ needs: Needs) -> Self { .enabled(needs.comment) { try needs.check() } }
}
