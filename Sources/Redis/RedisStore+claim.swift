// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdRESP
import OAuth

/// A claim on the lock of an identity, for as long as somebody has it.
final class RedisClaim: Sendable {
    /// Tells it from the claims of others.
    let word = SecureRandom.word(bytes: 12)
}

/// A claim that ends when nobody has it any more.
struct HeldRedisClaim {
    weak var claim: RedisClaim?
}

/// Claims by which a command, or whoever has a newer refresh token, asks the holder of a lock to let go of it.
///
/// The key is written anew with each try to get the lock, lives for a few seconds without that, and is removed in the step
/// that takes the lock.
extension RedisStore {
    /// The milliseconds for which a claim lives after the last try to get the lock.
    static let claimLife = "3000"

    package func claim(_ identity: String) async -> (any Sendable)? {
        let claim = RedisClaim()
        // Where that is not allowed, the lock must not fail for it.
        let command = RESPCommand("SET", claimKey(identity), claim.word, "PX", Self.claimLife)
        guard (try? await link.perform(command)) != nil else { return nil }
        claims[identity, default: []].removeAll { $0.claim == nil }
        claims[identity, default: []].append(HeldRedisClaim(claim: claim))
        return claim
    }

    /// The claim by which this process wants the lock; nil if nobody here claims it.
    func ownClaim(on identity: String) -> RedisClaim? { claims[identity]?.lazy.compactMap(\.claim).first }

    /// True if somebody claims the lock.
    ///
    /// - Throws: where nobody can claim it, because the server takes no writes or cannot be asked.
    func isClaimed(_ identity: String) async throws(StoreError) -> Bool {
        do throws(RedisError) {
            let read = RESPCommand("GETRANGE", claimKey(identity), "0", "63")
            let isClaimed = try await link.perform(read).bytes?.isEmpty == false
            _ = try await link.perform(RESPCommand("SET", lockKey(""), "", "PX", "1000"))
            return isClaimed
        } catch {
            switch error {
            // Where claims are not allowed nobody ever has one.
            case .forbidden, .refused(_, .wrongType): return false
            case .unreachable, .denied, .refused: throw StoreError(error)
            }
        }
    }

    func claimKey(_ identity: String) -> String { "\(settings.keyPrefix)claim:\(identity)" }
}
