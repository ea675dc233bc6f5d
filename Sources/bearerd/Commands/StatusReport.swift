// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdHTTPMessages
import BearerdObservability
import OAuth

/// A status in lines for a person.
struct StatusReport {
    private let status: StatusDocument
    private let now: WallTime
    /// The listener that was asked; nil where there is none.
    private let admin: ListenAddress?
    /// The data listeners of the file.
    private let listen: [ListenAddress]
    /// The file by which the daemon was looked for.
    private let file: String

    init(
        _ status: StatusDocument, at now: WallTime, admin: ListenAddress?, listen: [ListenAddress] = [],
        file: String
    ) {
        self.file = file
        self.listen = listen
        self.status = status
        self.now = now
        self.admin = admin
    }

    /// The daemon first, then a table of the identities, then the routes that fail.
    var text: TerminalText {
        var text = TerminalText()
        appendDaemon(to: &text)
        if let other = status.otherFile(than: file) {
            text.append("another file: ", .yellow)
            text.append("this daemon runs by \(other.printable), not by \(file.printable)\n")
        }
        for name in status.silentWorkers {
            text.append("standing still: ", .red)
            text.append("\(name): no requests there, and old figures; restart if it lasts\n")
        }
        for sentence in status.endedCertificates {
            text.append("certificate: ", .red)
            text.append("\(sentence.printable)\n")
        }
        appendRefusal(to: &text)
        for warning in status.warnings {
            text.append("protection off: ", .yellow)
            text.append("\(warning)\n")
        }
        text.append("\n")
        text.append(identities)
        appendTokens(to: &text)
        appendTroubles(to: &text)
        appendFailingRoutes(to: &text)
        return text
    }

    private func appendDaemon(to text: inout TerminalText) {
        if let daemon = status.daemon {
            text.append(status.isDraining ? "draining" : "running", status.isDraining ? .yellow : .green)
            text.append(
                ": bearerd \(status.version), pid \(daemon.processID), up \((status.uptime ?? now - daemon.startedAt).words) "
                    + "(since \(Self.text(daemon.startedAt)))\n")
        } else if let uptime = status.uptime {
            text.append("running", .green)
            text.append(": bearerd \(status.version), up \(uptime.words)\n")
        } else if let obstacle = AdminClient.obstacle(to: admin) {
            text.append("not asked", .yellow)
            let elsewhere = DaemonElsewhere(listening: listen).map { "; \($0.holding)" } ?? ""
            text.append(": \(obstacle)\(elsewhere)\nwhat follows is what the store holds\n")
        } else if let admin, let elsewhere = DaemonElsewhere(listening: listen) {
            text.append("not found", .yellow)
            text.append(
                ": nobody listens at \(admin) (admin.listen); \(elsewhere.words)\nwhat follows is what the store holds\n"
            )
        } else {
            text.append("not running", .yellow)
            let place = admin.map { " (nobody listens at \($0), admin.listen)" } ?? ""
            text.append("\(place): this is what the store holds\n")
        }
    }

    private func appendRefusal(to text: inout TerminalText) {
        guard let refusal = status.refusedReload else { return }
        text.append("reload refused", .red)
        text.append(
            " \(ago(refusal.at)) (\(Self.text(refusal.at))); the old configuration is in force:\n")
        for reason in refusal.reasons { text.append("  \(reason)\n") }
    }

    private var identities: TerminalText {
        guard !status.identities.isEmpty else { return TerminalText("no identities\n") }
        var table = TextTable(["IDENTITY", "STATE", "EXPIRES", "LAST REFRESH", "LAST ERROR"])
        for identity in status.identities {
            table.append([
                identity.name, identity.state.rawValue, identity.expiresAt.map(when) ?? "-",
                identity.lastRefresh.map(ago) ?? "-",
                identity.lastError.map { error in
                    error.sentence + (error.at.map { " (\(ago($0)))" } ?? "")
                } ?? "-",
            ])
        }
        return table.coloured(column: 1) { SessionState(rawValue: $0)?.colour }
    }

    /// The tokens of the identities from which routes want several.
    private func appendTokens(to text: inout TerminalText) {
        for identity in status.identities where !identity.tokens.isEmpty {
            text.append("\ntokens of \(identity.name):\n")
            var table = TextTable(["FOR", "STATE", "EXPIRES"])
            for token in identity.tokens {
                table.append([
                    token.target.words, token.state.rawValue, token.expiresAt.map(when) ?? "-",
                ])
            }
            text.append(table.coloured(column: 1) { SessionState(rawValue: $0)?.colour })
        }
    }

    /// The remedies for identities whose token is still good.
    private func appendTroubles(to text: inout TerminalText) {
        for identity in status.identities where identity.comingTrouble != nil {
            if identity.goesOnFromMemory, !identity.isOnlyHere {
                text.append("\nnot stored: ", .yellow)
            } else {
                text.append(identity.isOnlyHere ? "\nnot kept: " : "\nnot renewed: ", .red)
            }
            text.append("\(identity.name.printable): \(identity.advice(at: now))\n")
        }
    }

    private func appendFailingRoutes(to text: inout TerminalText) {
        append(
            "routes that fail", .red, to: &text,
            status.routes.compactMap { route in
                if case .fails(let reason, _)? = route.figures?.health { (route, reason) } else { nil }
            })
        append(
            "routes whose last request failed", .yellow, to: &text,
            status.routes.compactMap { route in
                if case .falters(let reason)? = route.figures?.health { (route, reason) } else { nil }
            })
    }

    private func append(
        _ title: String, _ colour: TerminalText.Colour, to text: inout TerminalText,
        _ routes: [(route: RouteStatus, reason: String)]
    ) {
        guard !routes.isEmpty else { return }
        text.append("\n\(title):\n", colour)
        for (route, reason) in routes {
            text.append(
                "  \(route.scope.words.printable)  \(route.upstream.printable)  \(reason.printable)\n")
        }
    }

    /// A moment to come or gone by.
    private func when(_ time: WallTime) -> String {
        now < time ? "in \((time - now).words)" : ago(time)
    }

    private func ago(_ time: WallTime) -> String { "\(max(.zero, now - time).words) ago" }

    private static func text(_ time: WallTime) -> String {
        Timestamp.text(unixSeconds: time.secondsSinceEpoch)
    }
}

extension SessionState {
    fileprivate var colour: TerminalText.Colour {
        switch self {
        case .authorized: .green
        case .refreshing, .empty: .yellow
        case .loginRequired, .misconfigured, .authorizationError, .unavailable: .red
        }
    }
}

extension SessionStatus {
    /// The meaning of ``comingTrouble``, how long the token lasts, and the remedy.
    ///
    /// - Parameter namesDoctor: false where doctor says it.
    func advice(at now: WallTime, namesDoctor: Bool = true) -> String {
        let look = namesDoctor ? " ('bearerd doctor --check store')" : ""
        guard !isOnlyHere else {
            return
                "a restart would lose the newest session; mend the store first\(look)"
                + (goesOnFromMemory ? "; until then it goes on from memory, and requests are served" : "")
        }
        guard !goesOnFromMemory else {
            return
                "the store takes no writes; it goes on from memory, requests are served, and a restart fetches a new token; mend the "
                + "store\(look)"
        }
        let left = troubleEndsAt.map { $0 - now }.flatMap { $0 > .zero ? $0.words : nil }
        let cause =
            lastError?.isAboutStore == true
            ? "the store cannot be used, and without it nothing is renewed; " : "the last renewal failed; "
        return cause
            + (left.map {
                "the token lasts another \($0), and no request gets one after that unless "
                    + (state == .loginRequired ? "somebody logs in" : "a later try works")
            } ?? (isServing ? "the token that is there has no end" : "there is no token in reserve"))
            + (namesDoctor ? " ('bearerd doctor \(name)' looks closer)" : "")
    }
}
