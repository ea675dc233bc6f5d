// SPDX-License-Identifier: Apache-2.0

/// Sessions that another identity of the same name could not write.
extension IdentityEngine {
    /// True if `session`, which another identity of the same name could not write, would be written by this one, or is older.
    func mayInherit(_ session: StoredSession) -> Bool {
        guard !isStopping, session.binding == binding else { return false }
        switch phase {
        case .idle, .settling, .locking, .holding: break
        case .reading, .spending, .asking, .judging, .saving, .performing, .stopped: return false
        }
        return session.generation != self.session.generation || session.origin == self.session.origin
    }

    mutating func inherit(_ newer: StoredSession, isOutrankingStored: Bool, _ inherited: HeldLease?) {
        if newer.generation > session.generation {
            adopt(newer)
            if !(newer.refreshToken?.equals(knownToken) ?? true) { ownToken = newer.refreshToken }
        }
        if newer.generation == session.generation {
            isUnwritten = true
            outranksStored = isOutrankingStored
            writeMoment = now + Self.pauseAfterTrouble
        }
        guard let inherited else { return }
        guard lease == nil else { return act(.release(inherited.ticket, leavingMark: inherited.leavesMark)) }
        lease = inherited
        phase = .holding
    }

    /// True if nothing is under way that writes, or may change what is to be written.
    var mayHandOver: Bool {
        switch phase {
        case .idle, .settling, .holding: true
        case .locking, .reading, .spending, .asking, .judging, .saving, .performing, .stopped: false
        }
    }

    /// Takes note that another identity has what this one could not write, and the lease of that ticket.
    mutating func handedOver(upTo generation: Int, _ ticket: Ticket?) {
        // What came meanwhile is ours to write.
        if session.generation <= generation {
            isUnwritten = false
            isStoreBehind = false
            outranksStored = false
        }
        // A lease that was taken meanwhile is ours.
        guard lease?.ticket == ticket else { return }
        if case .asking(let asking) = phase { setAdrift(asking) }
        lease = nil
        phase = .idle
    }
}
