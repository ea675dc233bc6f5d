// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import OAuth

/// Runs a session on a queue of its own.
final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "oauth")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

/// The clocks of the machine.
struct SystemClock: SessionClock {
    var now: Instant { ContinuousClock.now }
    var wallNow: WallTime { WallTime(sinceEpoch: .seconds(Date().timeIntervalSince1970)) }

    func sleep(until deadline: Instant) async throws(CancellationError) {
        do {
            try await Task.sleep(until: deadline, clock: .continuous)
        } catch {
            throw CancellationError()
        }
    }
}

/// The client's secret, from the environment.
struct EnvironmentCredentials: CredentialSource {
    func read(_ credential: Credential) async throws(CredentialError) -> Secret? {
        guard credential == .clientSecret else { return nil }
        guard let secret = ProcessInfo.processInfo.environment["CLIENT_SECRET"] else {
            throw CredentialError(reason: "CLIENT_SECRET is not set")
        }
        return Secret(secret)
    }
}

/// Prints what fails; an event holds no secret.
struct PrintingObserver: SessionObserver {
    func session(_ identity: String, reports event: SessionEvent) {
        if case .tokenRequested(_, let failure?) = event { print("\(identity): \(failure)") }
    }
}
