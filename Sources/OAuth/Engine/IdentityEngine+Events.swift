// SPDX-License-Identifier: Apache-2.0

/// The part of the engine that each event is for.
extension IdentityEngine {
    mutating func take(_ event: EngineEvent) {
        switch event {
        case .tokenNeeded(let id, let waiter, let deadline, let isRenewed):
            tokenNeeded(id, by: waiter, until: deadline, isRenewed: isRenewed)
        case .refreshRequested(let id, let additions, let waiter, let deadline):
            refreshRequested(id, additions, by: waiter, until: deadline)
        case .tokenInvalidated(let id, let waiter, let deadline):
            tokenInvalidated(id, by: waiter, until: deadline)
        case .attemptAwaited(let id, let waiter, let deadline):
            awaitAttempt(of: id, by: waiter, until: deadline)
        case .tokenRejected(let target, let rejection, let waiter, let deadline):
            tokenRejected(target, rejection, by: waiter, until: deadline)
        case .tokenAccepted(let target, let generation, let route, let isReplayed):
            tokenAccepted(target, generation: generation, route: route, isReplayed: isReplayed)
        case .renewalNeeded(let id):
            let isHeldBack = targets[id]?.access != nil && canRenew
            targets[id]?.isWithheld = isHeldBack
        case .credentialsChanged: credentialsChanged()
        case .timePassed: rung = nil

        case .started: isStarted = true
        case .targetJoined(let id, let client): join(id, client)
        case .targetLeaves(let id): targets[id]?.isLeaving = true
        case .targetLeft(let id): forget(id)
        case .stopping: stopping()
        case .hurried: hurry()
        case .stopped: stop()
        case .inherited(let given): inherit(given)
        case .handingOver(let ticket): handingOver(ticket)
        case .handedOver(let ticket, let isTaken): handedOver(ticket, isTaken: isTaken)

        case .commanded(let id, let command): commanded(id, command)
        case .performed(let ticket, let result): performed(ticket, result)

        case .storeChanged(let isWritable):
            nextRead = now
            if isWritable { writeMoment = min(writeMoment, now) }
        case .leased(let ticket): leased(ticket)
        case .leaseRefused(let ticket, let error): leaseRefused(ticket, error)
        case .recordRead(let ticket, let result): recordRead(ticket, result)
        case .marked(let trouble):
            if let trouble { storeFailed(.mark, trouble) } else { storeWorked(.mark) }
        case .spent(let ticket, let result):
            if !endMeanwhile(event) { spent(ticket, result) }
        case .saved(let ticket):
            if !endMeanwhile(event) { saved(ticket) }
        case .notSaved(let ticket, let error, let hasMoved):
            if !endMeanwhile(event) { notSaved(ticket, error, hasMoved: hasMoved) }
        case .claimed(let ticket, let isClaimed): claimed(ticket, isClaimed)
        case .roomWanted: roomWanted()

        case .requestBegan(let ticket): requestBegan(ticket)
        case .requestConnected(let ticket): requestConnected(ticket)
        case .answered(let ticket, let answer): answered(ticket, answer)
        case .probed(let ticket, let failure): probed(ticket, failure)
        case .judged(let ticket, let outcome): judged(ticket, outcome)
        }
    }

    /// Only what others must not be kept from is still done.
    mutating func takeAfterStop(_ event: EngineEvent) {
        switch event {
        case .leased(let ticket): act(.release(ticket, leavingMark: false))
        case .answered(let ticket, let answer):
            if let client = orphans.removeValue(forKey: ticket) { revoke(answer.outcome, of: client) }
        // Nothing ends of what the store goes on holding.
        case .commanded(let id, .logout): act(.finish(id, .failed(.stopped)))
        case .commanded(let id, let command): finish(QueuedCommand(id: id, command: command), .stopped)
        case .tokenNeeded(_, let id, _, _), .refreshRequested(_, _, let id, _),
            .tokenInvalidated(_, let id, _),
            .attemptAwaited(_, let id, _):
            act(.wake(id, .failure(.stopped)))
        case .tokenRejected(_, _, let id, _): act(.wake(id, .letThrough))
        case .tokenAccepted, .renewalNeeded, .credentialsChanged, .timePassed, .started, .targetJoined,
            .targetLeaves, .targetLeft, .stopping, .hurried, .stopped, .inherited, .handingOver, .handedOver,
            .performed, .storeChanged, .leaseRefused, .recordRead, .marked, .spent, .saved, .notSaved,
            .claimed,
            .roomWanted, .requestBegan, .requestConnected, .probed, .judged:
            break
        }
    }
}
