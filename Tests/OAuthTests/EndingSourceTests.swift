// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Synchronization
import Testing

@testable import OAuth

/// A program runs for as long as somebody wants what it prints.
struct `A source that is to end` {
    /// Runs `body` with a session whose program runs.
    private func run(_ body: (HeldProgram, SessionHarness) async throws -> Void) async throws {
        let program = HeldProgram()
        let harness = SessionHarness(credentials: program) {
            $0 = ClientConfiguration(
                name: "default", source: .command(TokenProgram(words: ["print"], limit: .seconds(3600))))
        }
        try await harness.run {
            #expect(program.isRunning)
            try await body(program, harness)
        }
    }

    @Test func `is hung up on at once where nobody waits for it`() async throws {
        try await run { program, harness in
            await harness.session.serveWaitersOnly()
            await harness.settle()
            #expect(!program.isRunning)
            await harness.pass(.seconds(3600))
            #expect(program.count == 1, "it is not asked again")
        }
    }

    @Test func `answers those who wait for it first`() async throws {
        try await run { program, harness in
            let request = Task { try await harness.request() }
            await harness.settle()
            await harness.session.serveWaitersOnly()
            await harness.settle()
            #expect(program.isRunning)
            program.print("late-token")
            let token = try await request.value
            #expect(token == "late-token")
        }
    }

    @Test func `is hung up on when the last of them waits no longer`() async throws {
        try await run { program, harness in
            let request = Task { try await harness.request() }
            await harness.settle()
            await harness.session.serveWaitersOnly()
            await harness.pass(.seconds(10))
            #expect(!program.isRunning)
            let outcome = await request.result
            #expect(throws: TokenError.self) { try outcome.get() }
            #expect(program.count == 1)
        }
    }

    @Test func `does not keep its session from stopping`() async throws {
        try await run { program, harness in
            await harness.session.stop()
            await harness.settle()
            #expect(!program.isRunning)
        }
    }
}

/// A program that runs until a test has it print something, or its task is cancelled.
private final class HeldProgram: CredentialSource, TokenProgramRunner {
    private struct State {
        var count = 0
        var run: CheckedContinuation<CommandOutput?, Never>?
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }
    var isRunning: Bool { state.withLock { $0.run != nil } }

    func print(_ token: String) {
        end(CommandOutput(failure: nil, output: Array(#"{"access_token":"\#(token)"}"#.utf8), error: []))
    }

    private func end(_ output: CommandOutput?) {
        let run = state.withLock { state in
            defer { state.run = nil }
            return state.run
        }
        run?.resume(returning: output)
    }

    func read(_ credential: Credential) async throws(CredentialError) -> Secret? { nil }

    func run(_ command: TokenProgram) async throws(CredentialError) -> CommandOutput {
        let output = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    state.count += 1
                    state.run = continuation
                }
                if Task.isCancelled { end(nil) }
            }
        } onCancel: {
            end(nil)
        }
        guard let output else { throw CredentialError(reason: "cancelled") }
        return output
    }
}
