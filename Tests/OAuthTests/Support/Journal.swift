// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import OAuth

/// What happened, in order; an observer as well.
final class Journal: SessionObserver {
    private let lines = Mutex<[String]>([])

    var entries: [String] { lines.withLock { $0 } }

    func append(_ line: String) { lines.withLock { $0.append(line) } }

    func session(_ identity: String, reports event: SessionEvent) {
        switch event {
        case .stateChanged(_, let new): append("state \(new.rawValue)")
        case .tokenRequestBegan: break
        case .tokenRequested(let grant, let failure):
            append("\(grant.shortName) \(failure?.kind.rawValue ?? "success")")
        case .tokenRepeated(let grant): append("\(grant.shortName) repeated")
        case .callerFailed(let failure): append("caller failed \(failure.code)")
        case .refreshUnanswered: append("unanswered")
        case .refreshTokenMayBeSpent(let generation): append("may be spent \(generation)")
        case .callerRefused(let failure): append("caller refused \(failure.code)")
        case .adopted(let generation): append("adopted \(generation)")
        case .storeFailed(let operation, _): append("\(operation.rawValue) failed")
        case .storeRecovered(let operation): append("\(operation.rawValue) recovered")
        case .tokenNotBound: append("token not bound")
        case .othersSessionFound: append("another client's session")
        case .scopeChanged(let old, let new):
            append("scope \(old.joined(separator: "+")) to \(new.joined(separator: "+"))")
        case .authorizationError(let route, _): append("401 \(route)")
        case .clientSecretExpires: append("client secret expires")
        }
    }
}
