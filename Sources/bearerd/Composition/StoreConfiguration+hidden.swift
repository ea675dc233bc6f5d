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

    /// The problem with a directory that holds another user's sessions, where we have none in its place.
    ///
    /// It is his store, and one of our own in it would be another, which his daemon never sees; nil for any other directory.
    var strangersSessions: String? {
        guard let directory, let hidden = StoreDirectory.hidden(in: directory), !hidden.isOurs,
            !hidden.hasSubstitute
        else { return nil }
        return "the sessions in \(directory) (store.directory) are not ours: it \(hidden.problem)"
    }
}
