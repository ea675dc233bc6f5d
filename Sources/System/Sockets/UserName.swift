// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Looks up the users of this machine (passwd(5), nsswitch.conf(5)); a lookup may block.
package enum UserName {
    /// The largest entry in bytes.
    private static let longestEntry = 16 << 10

    /// The number of a user; nil if there is no user of that name.
    package static func number(of name: String) -> UInt32? {
        entry {
            getpwnam_r(name, $0, $1, $2, $3)
        } read: {
            $0.pw_uid
        }
    }

    /// The name of a user; nil for a number without one.
    package static func of(_ user: UInt32) -> String? {
        entry {
            getpwuid_r(user, $0, $1, $2, $3)
        } read: {
            $0.pw_name.map { String(cString: $0) }
        } ?? nil
    }

    private static func entry<Value>(
        _ look: (
            UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
        ) -> CInt, read: (passwd) -> Value
    ) -> Value? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: longestEntry) { buffer in
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard let start = buffer.baseAddress, look(&entry, start, buffer.count, &found) == 0, let found
            else { return nil }
            return read(found.pointee)
        }
    }
}
