// SPDX-License-Identifier: Apache-2.0

@testable import OAuth

/// The way of a token request to the provider.
extension ModelProcess {
    /// Sends a token request, or sends it anew, once what has to be there first is there: metadata, a credential, and then a
    /// connection.
    func prepare(_ ticket: Ticket, _ grant: Grant) {
        after(upTo: 30) {
            guard self.engine.wants(ticket), grant.needsNoLease || self.isHeld(self.lease) else {
                return self.end(ticket, .superseded, wasSent: false)
            }
            self.take(.requestBegan(ticket))
            guard self.engine.wants(ticket) else { return self.end(ticket, .superseded, wasSent: false) }
            self.connect(ticket, grant)
        }
    }

    private func connect(_ ticket: Ticket, _ grant: Grant) {
        let began = world.now
        after(upTo: 12) {
            let lease = self.requestLeases[ticket]
            guard grant.needsNoLease || lease != nil else { return }
            guard self.world.now - began < self.world.configuration.tokenTimeLimit else {
                return self.end(ticket, .unreachable, wasSent: true)
            }
            guard grant.needsNoLease || self.isHeld(lease) else {
                return self.end(ticket, .superseded, wasSent: false)
            }
            self.take(.requestConnected(ticket))
            self.world.provider.ask(self, ticket, grant)
        }
    }

    /// Goes on at once, or now and then later.
    private func after(upTo seconds: Double, _ run: @escaping () -> Void) {
        let wait = !world.isQuiet && world.chance(10) ? world.seconds(0...seconds) : .zero
        world.after(wait, for: self, run)
    }

    private func isHeld(_ lease: ModelLease?) -> Bool { lease?.isHeld(at: world.now) ?? false }

    private func end(_ ticket: Ticket, _ reason: TokenFailure.Reason, wasSent: Bool) {
        let outcome = TokenRequestResult(
            result: .failure(ModelProvider.failure(reason)), sentAt: world.now, wall: world.wall)
        take(.answered(ticket, TokenRequestReport(outcome: outcome, wasSent: wasSent)))
    }
}

extension Grant {
    fileprivate var needsNoLease: Bool { if case .refresh = self { false } else { true } }
}
