// SPDX-License-Identifier: Apache-2.0

/// The judgement of resource servers on a token.
extension IdentityEngine {
    /// Takes note of a refused token, which stays in use while another one is fetched: an API may refuse it in one place
    /// alone.
    mutating func tokenRejected(
        _ id: TargetID, _ rejection: TokenRejection, by waiter: WaiterID, until deadline: Instant
    ) {
        guard var state = targets[id] else { return act(.wake(waiter, .letThrough)) }
        if state.isNews(rejection) {
            let refusal = TokenRefusal(rejection.challenges, to: state.access?.snapshot)
            state.refusal = refusal
            report(.authorizationError(route: rejection.route, refusal))
        }
        let waits = state.rejected(rejection, mayForce: mayForce(state), at: now)
        targets[id] = state
        guard waits else { return act(.wake(waiter, .letThrough)) }
        wait(waiter, id, .verdict(rejection), deadline)
    }

    /// Takes note of an accepted token.
    mutating func tokenAccepted(_ id: TargetID, generation: Int, route: String, isReplayed: Bool) {
        guard let state = targets[id], state.access?.snapshot.generation == generation else { return }
        if !isUnwritten, generation == session.generation { hasStoredWorked = true }
        targets[id]?.accepted(generation, by: route, isReplayed: isReplayed)
    }

    /// True if a forced renewal would begin now, not after a back-off or never.
    private func mayForce(_ state: TargetState) -> Bool {
        guard canRenew, session.refusal == nil else { return false }
        return state.attempt != nil || state.failure.map { $0.retry <= now } ?? true
    }
}
