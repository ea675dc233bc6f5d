// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdEventLoop
import BearerdJSON
import BearerdSystem

/// Commands that may use the session's refresh token.
///
/// Their caller waits for `timeouts.token_wait`. Once a refresh token has been sent, however, the response
/// may hold the only working one, so it is awaited for longer, and stored. A forked copy of the process
/// therefore does the work: it passes on the result when the caller's time is up, and finishes what it began,
/// also if the caller is interrupted. A caller reads the output to its end and waits for the process, so
/// neither may belong to the copy.
extension ChosenIdentity {
    /// The request to the daemon if the store cannot be opened.
    struct Inquiry: Sendable {
        let resource: AdminResource
        /// Makes text of the daemon's answer; nil if it is unexpected.
        let reading: @Sendable (JSONValue) -> String?
    }

    /// Asks the provider as ``ask(or:here:)`` does; a failure to reach it names the command that tells more.
    func askWithAdvice(
        or inquiry: Inquiry? = nil,
        here: @escaping @Sendable (IdentitySession) async throws(CommandFailure) -> String
    ) throws(CommandFailure) -> String {
        do throws(CommandFailure) {
            return try ask(or: inquiry, here: here)
        } catch {
            guard error.status == .unavailable, error.code != nil else { throw error }
            throw CommandFailure(error.status, "\(error.message); 'bearerd doctor \(name)' looks closer")
        }
    }

    /// Asks the provider, within the time that the caller waits.
    ///
    /// - Parameters:
    ///   - inquiry: the request to the daemon if the store cannot be opened; nil if the daemon cannot do it.
    ///   - here: does it with the store.
    /// - Returns: the text from either.
    /// - Throws: a failure of permission if neither a store nor a daemon is available.
    func ask(
        or inquiry: Inquiry? = nil,
        here: @escaping @Sendable (IdentitySession) async throws(CommandFailure) -> String
    ) throws(CommandFailure) -> String {
        let bytes = ForkedProcess.result { copy in
            let handOver = { @Sendable (outcome: Result<String, CommandFailure>, goesOn: Bool) in
                copy.handOver(EncodedOutcome.bytes(of: outcome), goingOn: goesOn)
            }
            do throws(CommandFailure) {
                try CommandLoop.run { loop throws(CommandFailure) in
                    guard let session = try await session(loop, or: inquiry, handOver) else { return }
                    let end = session.finish(whenEnded: copy)
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
        guard let outcome = bytes.flatMap(EncodedOutcome.outcome) else {
            throw CommandFailure(.failure, "interrupted")
        }
        return try outcome.get()
    }

    /// - Returns: nil if the daemon did it.
    private func session(
        _ loop: EventLoop, or inquiry: Inquiry?, _ handOver: IdentitySession.HandOver
    ) async throws(CommandFailure) -> IdentitySession? {
        let session: IdentitySession
        do throws(CommandFailure) {
            session = try await IdentitySession(of: identity, in: configuration, of: file, loop: loop)
        } catch {
            guard let inquiry else {
                guard configuration.store.isShared else {
                    throw CommandFailure(
                        .permission,
                        "\(name): the store is in memory (store.type), where only the daemon has the token, and no listener hands "
                            + "tokens out; store.type: file is for commands too"
                    )
                }
                throw error
            }
            let daemon = try IdentityDaemon(
                of: identity, in: configuration, of: file, loop: loop, because: error)
            handOver(.success(try await daemon.ask(for: inquiry.resource, inquiry.reading)), false)
            return nil
        }
        guard let inquiry,
            let daemon = try await IdentityDaemon(
                holding: identity, unknownTo: session, in: configuration, of: file, loop: loop)
        else { return session }
        handOver(.success(try await daemon.ask(for: inquiry.resource, inquiry.reading)), false)
        return nil
    }
}

/// Encodes an outcome for the pipe between two processes.
///
/// The exit status comes first, then the text; or, for a failure, the length of its code, the code and the
/// message.
private enum EncodedOutcome {
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
