// SPDX-License-Identifier: Apache-2.0

import OAuth
import Synchronization

/// The families of a runtime's sessions by name, as long as they have sessions.
final class SessionFamilies: Sendable {
    private struct Entry {
        weak var family: SessionFamily?
    }

    /// By the bytes of the names, which stores go by: Swift's strings are equal in several spellings.
    private let entries = Mutex<[[UInt8]: Entry]>([:])

    var count: Int { entries.withLock { $0.count } }

    /// The family of the sessions called `name`; a new one if there is none.
    ///
    /// A new one makes it forget those without sessions.
    subscript(name: String) -> SessionFamily {
        entries.withLock { entries in
            let name = Array(name.utf8)
            if let family = entries[name]?.family { return family }
            let family = SessionFamily()
            entries = entries.filter { $0.value.family != nil }
            entries[name] = Entry(family: family)
            return family
        }
    }
}
