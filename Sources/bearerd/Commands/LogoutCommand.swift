// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Configuration
import EventLoop
import OAuth

/// `bearerd logout`: ends a session here, and asks the provider to end it too.
struct LogoutCommand: IdentityCommand {
    static let name = "logout"
    static let summary = "forgets the session, revokes its tokens, asks the provider to end its own"
    static let details = [
        "Forgets first, and asks the provider then. A provider that fails makes the exit status 69; the session is "
            + "forgotten all the same."
    ]
    static let options = [local, noBrowser]

    private static let local = CommandOption("local", "only forgets; the provider is not asked")
    private static let noBrowser = CommandOption(
        "no-browser", "prints the address where a browser ends the provider's session")

    let operand: IdentityOperand
    private let isLocal: Bool
    private let printsAddress: Bool

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        operand = try IdentityOperand(arguments)
        isLocal = arguments.has(Self.local)
        printsAddress = arguments.has(Self.noBrowser)
    }

    func run(on chosen: ChosenIdentity) throws(CommandFailure) {
        let report = try chosen.perform(
            .logout(identity: chosen.name),
            here: { session throws(CommandFailure) in
                let outcome = await session.logOut(onlyHere: isLocal)
                if let request = outcome.request { try await show(request, session.loop) }
                return LogoutReport(outcome)
            },
            reading: { LogoutReport($0) })
        Console.remark(
            "\(chosen.name): \(report.storeReason == nil ? "" : "not ")logged out here\(remoteWords(report))")
        if let reason = report.storeReason {
            let reasons = ([reason] + report.reasons).joined(separator: "; ")
            throw CommandFailure(
                .inputOutput, "\(chosen.name): the store holds the session still; log out again: \(reasons)")
        }
        guard report.reasons.isEmpty else {
            let reasons = report.reasons.joined(separator: "; ")
            throw CommandFailure(.unavailable, "\(chosen.name): the provider was not told: \(reasons)")
        }
    }

    /// Most providers tie their session to the browser, so that only the browser can end it.
    private func show(_ request: EndSessionRequest, _ loop: EventLoop) async throws(CommandFailure) {
        guard !printsAddress else { return try Console.show("\(request.url)\n") }
        guard let browser = Browser() else { return }
        guard await LogoutListener.show(request, in: browser, on: loop) else {
            return Console.remark("the browser did not come for the logout; it may be logged in still")
        }
    }

    private func remoteWords(_ report: LogoutReport) -> String {
        var words = ""
        switch report.revocation {
        case .requested: words += "; the tokens are revoked"
        case .notSupported: words += "; the provider revokes no tokens"
        case .nothingToDo, .failed: break
        }
        switch report.endSession {
        case .requested: words += "; the end of the provider's session is requested"
        case .notSupported: words += "; the provider's session cannot be ended from here"
        case .nothingToDo, .failed: break
        }
        return words
    }
}
