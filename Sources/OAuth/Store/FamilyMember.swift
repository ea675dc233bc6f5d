// SPDX-License-Identifier: Apache-2.0

/// A session of an identity, as its ``SessionFamily`` and the others in it know it.
protocol FamilyMember: AnyObject, Sendable {
    /// What the store holds, or could not take, is not what it was.
    func storeChanged() async

    /// Writes `session` as its own, which `member` could not and is about to forget.
    ///
    /// - Parameter outrankingStored: whether it is newer than what is stored, whatever the generations.
    /// - Returns: whether it does, or has something newer that it writes itself.
    func takeOver(
        _ session: StoredSession, outrankingStored: Bool, from member: any FamilyMember
    ) async -> Bool

    /// Has what it asks the provider for be nobody's: another session of the identity needs the turn.
    func letGo(for reason: Supersession) async
}
