// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdTokenStore

extension StoreConfiguration {
    /// A sentence about sessions that are not used, because of the mode or the owner of the directory that they are in;
    /// nil if there are none.
    var hiddenSessions: String? {
        guard let directory, let hidden = StoreDirectory.hidden(in: directory) else { return nil }
        return
            "the sessions in \(directory) (store.directory) are not used: it \(hidden.problem), and \(hidden.substitute) is used in "
            + "its place; 'bearerd doctor --check store' tells what to do"
    }

    /// The problem with a directory that is another user's store; nil for any other directory.
    ///
    /// His daemon uses it: one of our own in it would be another, of which that daemon knows nothing.
    var strangersProblem: String? {
        directory.flatMap(StoreDirectory.strangersProblem).map {
            "the store in \(directory ?? "") (store.directory) is not ours: it \($0)"
        }
    }
}
