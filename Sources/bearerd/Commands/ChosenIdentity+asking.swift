// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdEventLoop
import BearerdJSON
import BearerdSystem

/// Commands that may use the session's refresh token.
///
/// Their caller waits for `timeouts.token_wait`. But once a refresh token has been sent, the answer may hold the only
/// one that works, so it is waited for longer, and stored. So a copy of the process does the work: it hands the result
/// over when the caller's time is up, and finishes what it began, as it does where the caller is interrupted. A caller reads
/// the output to its end and waits for the process, so neither may be the copy's.
extension ChosenIdentity {
    /// What the daemon is asked for where the store cannot be opened.
    struct Inquiry: Sendable {
        let resource: AdminResource
        /// Makes text of the daemon's answer; nil if it is not what it should be.
        let reading: @Sendable (JSONValue) -> String?
    }

    /// Asks the provider, and waits no longer than the caller does.
    ///
    /// - Parameters:
    ///   - inquiry: what to ask the daemon; nil if it may not do it.
    ///   - here: does it on the store.
    /// - Returns: what either brings.
    /// - Throws: a failure of permission if there is neither a store nor a daemon.
    func ask(
        or inquiry: Inquiry? = nil,
        here: @escaping @Sendable (IdentitySession) async throws(CommandFailure) -> String
    ) throws(CommandFailure) -> String {
        let bytes = Deputy.result { deputy in
            let handOver = { @Sendable (outcome: Result<String, CommandFailure>, goesOn: Bool) in
                deputy.handOver(HandedOver.bytes(of: outcome), goingOn: goesOn)
            }
            do throws(CommandFailure) {
                try CommandLoop.run { loop throws(CommandFailure) in
                    guard let session = try await session(loop, or: inquiry, handOver) else { return }
                    let end = session.finish(whenEnded: deputy)
                    defer { withExtendedLifetime(end) {} }
                    let outcome: Result<String, CommandFailure>
                    do throws(CommandFailure) {
                        outcome = .success(try await here(session))
                    } catch {
                        outcome = .failure(error)
                    }
                    await session.end(with: outcome, handOver)
                }
            } catch {
                handOver(.failure(error), false)
            }
        }
        guard let outcome = bytes.flatMap(HandedOver.outcome) else {
            throw CommandFailure(.failure, "interrupted")
        }
        return try outcome.get()
    }

    /// - Returns: nil if the daemon did it.
    private func session(
        _ loop: EventLoop, or inquiry: Inquiry?, _ handOver: IdentitySession.HandOver
    ) async throws(CommandFailure) -> IdentitySession? {
        do throws(CommandFailure) {
            return try await IdentitySession(of: identity, in: configuration, loop: loop)
        } catch {
            guard let inquiry else { throw error }
            let daemon = try IdentityDaemon(of: identity, in: configuration, loop: loop, because: error)
            handOver(.success(try await daemon.ask(for: inquiry.resource, inquiry.reading)), false)
            return nil
        }
    }
}

/// An outcome as bytes, for the way between two processes: the exit status, then the text, or the failure's code with
/// its length before it, and the message.
private enum HandedOver {
    static func bytes(of outcome: Result<String, CommandFailure>) -> [UInt8] {
        switch outcome {
        case .success(let text): [UInt8(ExitStatus.success.rawValue)] + text.utf8
        case .failure(let failure):
            [UInt8(clamping: failure.status.rawValue)] + code(of: failure) + failure.message.utf8
        }
    }

    static func outcome(of bytes: [UInt8]) -> Result<String, CommandFailure>? {
        guard let first = bytes.first, let status = ExitStatus(rawValue: Int32(first)) else { return nil }
        let rest = bytes.dropFirst()
        guard status != .success else { return .success(String(decoding: rest, as: UTF8.self)) }
        guard let length = rest.first.map(Int.init), length < rest.count else { return nil }
        var failure = CommandFailure(
            status, String(decoding: rest.dropFirst(1 + length), as: UTF8.self))
        if length > 0 {
            let word = String(decoding: rest.dropFirst().prefix(length), as: UTF8.self)
            failure.code = TroubleCode(rawValue: word)
        }
        return .failure(failure)
    }

    private static func code(of failure: CommandFailure) -> [UInt8] {
        let code = Array((failure.code?.rawValue ?? "").utf8.prefix(Int(UInt8.max)))
        return [UInt8(code.count)] + code
    }
}
