// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdEventLoop
import OAuth

/// `bearerd logout`: ends a session here, and asks the provider to end it too.
struct LogoutCommand: IdentityCommand {
    static let name = "logout"
    static let summary = "forgets the session, revokes its tokens, asks the provider to end its own"
    static let details = [
        "Forgets first, and asks the provider then. A provider that fails makes the exit status 69; the session is "
            + "forgotten all the same.",
        "With --post-logout-redirect-uri or --state the command needs the store: a daemon that has it alone goes by the "
            + "configuration.",
    ]
    static let options = [local, noBrowser, redirectURI, state]

    private static let local = CommandOption("local", "only forgets; the provider is not asked")
    private static let noBrowser = CommandOption(
        "no-browser", "prints the address where a browser ends the provider's session")
    private static let redirectURI = CommandOption(
        "post-logout-redirect-uri", value: "URI", "the provider sends the browser there in the end")
    private static let state = CommandOption(
        "state", value: "TEXT", "comes back to that URI (else a word drawn anew)")

    let operand: IdentityOperand
    private let isLocal: Bool
    private let printsAddress: Bool
    /// Replaces the configured `post_logout_redirect_uri`.
    private let redirectURI: String?
    /// Replaces the random `state`.
    private let state: String?

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        operand = try IdentityOperand(arguments)
        isLocal = arguments.has(Self.local)
        printsAddress = arguments.has(Self.noBrowser)
        redirectURI = arguments.value(Self.redirectURI)
        state = arguments.value(Self.state)
        if let redirectURI, !WireGrammar.isAbsoluteURI(redirectURI) {
            throw CommandFailure(
                .usage,
                "--post-logout-redirect-uri is an absolute URI without a fragment, as registered at the provider"
            )
        }
        if let state, state.isEmpty || !WireGrammar.isPlain(state) {
            throw CommandFailure(
                .usage, "--state is text without control characters; leave it out for one that is drawn anew")
        }
        guard !isLocal || redirectURI == nil && state == nil else {
            throw CommandFailure(
                .usage, "--local asks the provider nothing: leave out --post-logout-redirect-uri and --state")
        }
    }

    func run(on chosen: ChosenIdentity) throws(CommandFailure) {
        let report = try perform(on: chosen)
        Console.remark(
            "\(chosen.name): \(report.storeReason == nil ? "" : "not ")logged out here\(remoteWords(report))")
        if let reason = report.storeReason {
            let reasons =
                ([reason, chosen.configuration.store.diskTrouble].compactMap(\.self) + report.reasons)
                .joined(separator: "; ")
            throw CommandFailure(
                .inputOutput,
                "\(chosen.name): the store holds a session still; log out again once that is mended: \(reasons)"
            )
        }
        guard report.reasons.isEmpty else {
            let reasons = report.reasons.joined(separator: "; ")
            throw CommandFailure(.unavailable, "\(chosen.name): the provider was not told: \(reasons)")
        }
    }

    private func perform(on chosen: ChosenIdentity) throws(CommandFailure) -> LogoutReport {
        guard let redirectURI = try place(for: chosen) else {
            return try chosen.perform(
                .logout(identity: chosen.name, onlyHere: isLocal), needsSession: true,
                here: { session throws(CommandFailure) in
                    try chosen.requireOwnSession()
                    return try await report(session.logOut(onlyHere: isLocal), session.loop)
                },
                reading: { LogoutReport($0) })
        }
        try chosen.requireOwnSession()
        // Not the daemon in its place: that one would say what the configuration has it say.
        return try CommandLoop.run { loop throws(CommandFailure) in
            let session = try await openStore(of: chosen, loop)
            let daemon = try await IdentityDaemon(
                holding: chosen.identity, unknownTo: session, in: chosen.configuration, of: chosen.file,
                loop: loop)
            guard daemon == nil else {
                throw CommandFailure(
                    .permission,
                    "\(chosen.name): the newest session is not in the store, the daemon has it; \(Self.daemonsWay)"
                )
            }
            return try await report(session.logOut(returningTo: redirectURI, state: state), loop)
        }
    }

    /// The URI to which the browser is redirected after the logout; nil if the options do not change it.
    ///
    /// - Throws: a failure of usage for a `--state` without a URI to return to.
    private func place(for chosen: ChosenIdentity) throws(CommandFailure) -> String? {
        guard redirectURI != nil || state != nil else { return nil }
        if let place = redirectURI ?? chosen.identity.client.postLogoutRedirectURI { return place }
        throw CommandFailure(
            .usage,
            "\(chosen.name): --state has nowhere to come back to; add --post-logout-redirect-uri, or configure "
                + "post_logout_redirect_uri")
    }

    private func openStore(
        of chosen: ChosenIdentity, _ loop: EventLoop
    ) async throws(CommandFailure) -> IdentitySession {
        do throws(CommandFailure) {
            return try await IdentitySession(
                of: chosen.identity, in: chosen.configuration, of: chosen.file, loop: loop)
        } catch {
            guard error.status == .permission || error.status == .cannotCreate else { throw error }
            throw CommandFailure(
                error.status,
                "\(error.message); \(Self.daemonsWay)")
        }
    }

    private static let daemonsWay =
        "the daemon logs out without --post-logout-redirect-uri and --state, and goes by the configured "
        + "post_logout_redirect_uri"

    /// - Returns: the result, once a browser has been shown the logout.
    private func report(
        _ outcome: LogoutOutcome, _ loop: EventLoop
    ) async throws(CommandFailure) -> LogoutReport {
        if let request = outcome.request { try await show(request, loop) }
        return LogoutReport(outcome)
    }

    /// Shows the logout to a browser, because most providers tie their session to the browser.
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
