// SPDX-License-Identifier: Apache-2.0

/// What resource servers think of a token.
extension IdentityEngine {
    /// A resource server refused a token, which goes on being used while another one is fetched: an API may refuse it in
    /// one place alone.
    mutating func tokenRejected(
        _ target: TokenTarget, _ rejection: TokenRejection, by waiter: WaiterID, until deadline: Instant
    ) {
        guard stopMoment == nil, var state = targets[target] else { return act(.pass(waiter)) }
        if state.isNews(rejection) { report(.authorizationError(route: rejection.route)) }
        let isRenewed = isUnderWay(target)
        let waits = state.rejected(rejection, mayForce: mayForce(target), isUnderWay: isRenewed, at: now)
        targets[target] = state
        guard waits else { return act(.pass(waiter)) }
        wait(waiter, target, .verdict(rejection), deadline)
    }

    /// A resource server took a token.
    mutating func tokenAccepted(_ target: TokenTarget, generation: Int, route: String, isReplayed: Bool) {
        guard var state = targets[target], state.access?.snapshot.generation == generation else { return }
        if !isUnwritten, generation == session.generation { hasStoredWorked = true }
        state.accepted(generation, by: route, isReplayed: isReplayed, isUnderWay: isBeingAsked(target))
        targets[target] = state
    }

    /// Whether a forced renewal would be made now rather than after a back-off or never.
    private func mayForce(_ target: TokenTarget) -> Bool {
        guard canRenew, session.refusal == nil, let state = targets[target],
            session.barredRequests[state.request] == nil
        else { return false }
        if case .silent = phase { return false }
        return isBeingAsked(target) || state.failure.map { $0.retry <= now } ?? true
    }
}
