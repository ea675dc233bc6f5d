// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import Synchronization

/// The lock on one identity's lock file; the kernel releases it if the process dies.
final class FileStoreLock: Sendable {
    private struct State: ~Copyable {
        var file: FileLock?
        var isHeld = true
        /// The generation whose refresh token is being sent.
        var spending: Int64?
        var mayBeSpent = false
        /// Why the last note is not in the file.
        var trouble: SystemError?
        /// The note that was left when the lock was taken.
        var noteFound: Int64?
    }

    private let state: Mutex<State>

    /// - Parameter file: nil in a directory that nobody else can use.
    init(_ file: consuming FileLock?) {
        let noteFound = file?.note
        state = Mutex(State(file: file, noteFound: noteFound))
    }

    /// True until ``release()``.
    var isHeld: Bool { state.withLock { $0.isHeld } }

    /// Notes that the refresh token of a generation is about to be sent.
    func spend(_ generation: Int) {
        state.withLock { state in
            let generation = Int64(generation)
            // The note of a generation that we have marked before is our own.
            if state.spending != generation {
                state.mayBeSpent = Self.isLeft(state.file?.note, by: generation)
            }
            state.spending = generation
            state.trouble = state.file?.leave(note: generation)
        }
    }

    /// Why the note of ``spend(_:)`` is not in the file, so that the next process will not find it; nil if it is.
    var markTrouble: SystemError? { state.withLock { $0.trouble } }

    /// True if the note that was left when the lock was taken is that of a generation, or of nobody knows which.
    func wasLeftSpent(_ generation: Int) -> Bool {
        state.withLock { Self.isLeft($0.noteFound, by: Int64(generation)) }
    }

    private static func isLeft(_ note: Int64?, by generation: Int64) -> Bool {
        note == generation || note == FileLock.unknownNote
    }

    /// True if another process left the same note and did not remove it.
    var mayBeSpent: Bool { state.withLock { $0.mayBeSpent } }

    /// Ends that nobody knows what an earlier holder noted: that was about the record which another has just replaced, and
    /// which says itself of a doubt that goes on.
    func saved() {
        state.withLock { state in
            guard state.spending == nil, state.file?.note == FileLock.unknownNote else { return }
            state.file?.leave(note: nil)
            state.noteFound = nil
        }
    }

    /// Lets the note stay.
    func leaveSpent() { state.withLock { $0.spending = nil } }

    /// Releases the lock; a second call does nothing.
    func release() {
        state.withLock { state in
            if state.spending != nil { state.file?.leave(note: nil) }
            state.spending = nil
            state.file = nil
            state.isHeld = false
        }
    }
}
