// SPDX-License-Identifier: Apache-2.0

import BearerdJSONText

/// Sessions that another identity of the same name could not write.
extension IdentityEngine {
    /// True if `session`, which another identity of the same name could not write, would be written by this one, or is older.
    func mayInherit(_ session: StoredSession) -> Bool {
        guard !isStopping, session.binding.hasSameBytes(as: binding) else { return false }
        switch phase {
        case .idle, .settling, .locking, .holding: break
        case .reading, .spending, .asking, .judging, .saving, .performing, .stopped: return false
        }
        return session.generation != self.session.generation || session.origin == self.session.origin
    }

    mutating func inherit(_ given: Inheritance) {
        // What a person did there counts, however often others have changed the session of before.
        let isPersons = given.isOutrankingStored && given.session.begins(after: session)
        if isPersons || given.session.generation > session.generation {
            adopt(given.session)
            ownToken = given.ownToken
        } else if let first = order.first {
            revoke(given.ownToken, of: given.session, requestingClient(of: first), endedBy: session)
        }
        if isPersons || given.session.generation == session.generation {
            isUnwritten = true
            outranksStored = outranksStored || given.isOutrankingStored
            // What was given with a lease could not be written; else another process may be about to send the refresh token of
            // before.
            writeMoment = given.lease == nil ? now : now + Self.pauseAfterTrouble
            if case .locking = phase, isClaiming { act(.claim) }
        }
        guard let inherited = given.lease else { return }
        guard lease == nil else { return act(.release(inherited.ticket, leavingMark: inherited.leavesMark)) }
        lease = inherited
        phase = .holding
    }

    /// True if there is something to hand over, and nothing is under way that writes, or may change it.
    var mayHandOver: Bool {
        guard needsWriting else { return false }
        switch phase {
        case .idle, .settling, .holding: return true
        case .locking, .reading, .spending, .asking, .judging, .saving, .performing, .stopped: return false
        }
    }

    /// All that another identity of the same name needs to go on in place of this one.
    var inheritance: Inheritance {
        Inheritance(session: session, isOutrankingStored: outranksStored, ownToken: ownToken, lease: lease)
    }

    /// Waits until another identity has taken what this one could not write, as for the store.
    ///
    /// No refresh token is sent meanwhile that the other one has got, too.
    mutating func handingOver(_ ticket: Ticket) {
        guard mayHandOver else { return }
        phase = .saving(ticket, session, nil)
        storeAskedAt = now
    }

    mutating func handedOver(_ ticket: Ticket, isTaken: Bool) {
        guard case .saving(ticket, let given, _) = phase else { return }
        if isTaken {
            lease = nil
            // What came meanwhile is ours to write.
            if session.generation <= given.generation {
                isUnwritten = false
                isStoreBehind = false
                outranksStored = false
                // The other one sends it from now on.
                ownToken = nil
                session.doubt()
            }
        } else {
            // Not again at once, or nobody who waits for a moment without a write would find one.
            writeMoment = max(writeMoment, now + Self.pauseAfterTrouble)
        }
        phase = lease == nil ? .idle : .holding
    }
}
