// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

@testable import OAuth

/// What a process knows of the store: the identities of one process share it, as they share a store's driver.
final class ModelStoreView {
    /// Whether the store cannot be reached from here alone.
    var isCutOff = false
    /// Whether its connection to the store was lost, which it has not noticed.
    var isConnectionLost = false
    /// The newest generation that was read or written, and the first that had the same refresh token; the last record.
    private var newest = (generation: 0, token: Secret?.none)
    private(set) var tokenGeneration = 0
    private(set) var lastRecord: StoredSession?
    /// The mark of another lease that is waited for.
    var watch: ModelMarkWatch?
    /// When the store was last out of reach, and when it was found to have lost something.
    var mayLackSince: Instant?
    private(set) var loss: Instant?

    /// Forgets all but how the store is reached: the process is another one.
    func begin() {
        (newest, tokenGeneration, lastRecord, watch) = ((0, nil), 0, nil, nil)
        (mayLackSince, loss) = (nil, nil)
    }

    /// Takes note of a record that was read or written.
    func noteRead(_ record: StoredSession?, at now: Instant) {
        if let lastRecord, (record?.generation ?? 0) < lastRecord.generation { loss = now }
        lastRecord = record ?? lastRecord
        guard let record else { return }
        let isSame = record.refreshToken.map { $0.matches(newest.token) } ?? (newest.token == nil)
        if newest.generation > 0, isSame {
            tokenGeneration = min(tokenGeneration, record.generation)
        } else if record.generation > newest.generation {
            tokenGeneration = record.generation
        }
        if record.generation > newest.generation { newest = (record.generation, record.refreshToken) }
    }

    /// Takes note that the store takes nothing, which matters while it waits for others to write what was lost.
    func cannotWrite(_ term: Duration, at now: Instant) {
        let lack = [mayLackSince, loss].compactMap(\.self).max()
        if let lack, now < lack + term { loss = now }
    }
}
