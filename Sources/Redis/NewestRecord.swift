// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import OAuth

/// The facts that are known of the newest record of an identity that was ever read or written, whatever the server holds now.
struct NewestRecord {
    let generation: Int
    /// The first generation that is known to have the same refresh token: a mark of an earlier one says nothing of it.
    let tokenGeneration: Int
    private let token: Secret?

    /// - Parameters:
    ///   - session: was read or written.
    ///   - before: what was known before.
    init(_ session: StoredSession, after before: NewestRecord?) {
        guard let before else {
            (generation, tokenGeneration) = (session.generation, session.generation)
            token = session.refreshToken
            return
        }
        let isNewer = session.generation > before.generation
        let isSame: Bool =
            switch (session.refreshToken, before.token) {
            case (let new?, let old?): new.matches(old)
            case (nil, nil): true
            default: false
            }
        generation = max(session.generation, before.generation)
        token = isNewer ? session.refreshToken : before.token
        tokenGeneration =
            isSame
            ? min(session.generation, before.tokenGeneration)
            : isNewer ? session.generation : before.tokenGeneration
    }
}
