// SPDX-License-Identifier: Apache-2.0

import BearerdJSONText
import Synchronization

/// The sessions of one name in this process, which hear of each other's changes.
///
/// Those of one identity have all in common. Identities of one name, as a reload makes them, meet in the store, and
/// one that is to end hands over to another what the store would not take.
public final class SessionFamily: Sendable {
    private struct Peer {
        weak var identity: Identity?
    }

    private struct State {
        var peers: [Peer] = []
        /// The word for each target, by its slot.
        var words: [ObjectIdentifier: SessionState] = [:]
        var reported = ReportedState(.empty)

        /// The word for all: the first that applies to one of them.
        var word: SessionState? {
            let present = Set(words.values)
            return SessionState.allCases.first(where: present.contains)
        }
    }

    private let state = Mutex(State())

    /// A family without members.
    public init() {}

    func join(_ identity: Identity) {
        state.withLock { state in
            state.peers.removeAll { $0.identity == nil }
            state.peers.append(Peer(identity: identity))
        }
    }

    /// Every identity of the name but `identity`.
    func namesakes(of identity: Identity) -> [Identity] {
        state.withLock { state in
            state.peers.compactMap(\.identity).filter {
                $0 !== identity && $0.name.hasSameBytes(as: identity.name)
            }
        }
    }

    /// Counts a target for the state of the name, which begins with nothing known.
    func join(_ slot: TokenSlot) { state.withLock { $0.words[ObjectIdentifier(slot)] = .empty } }

    /// Counts a target no more.
    func leave(_ slot: TokenSlot) { state.withLock { $0.words[ObjectIdentifier(slot)] = nil } }

    /// Takes in the word for a target.
    ///
    /// - Returns: the change of the name's state, if that is to be told now; when to ask again, if it is to be told later.
    func look(
        _ slot: TokenSlot, in present: SessionState, at now: Instant
    ) -> (change: (from: SessionState, to: SessionState)?, due: Instant?) {
        state.withLock { state in
            guard state.words[ObjectIdentifier(slot)] != nil else { return (nil, nil) }
            state.words[ObjectIdentifier(slot)] = present
            guard let new = state.word else { return (nil, nil) }
            let old = state.reported.look(new, at: now)
            return (old.map { ($0, new) }, state.reported.due)
        }
    }
}
