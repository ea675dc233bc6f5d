// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdHTTPMessages
import BearerdObservability
import BearerdSystem
import OAuth

/// `daemon`: what a running daemon says of itself, of each identity and of each route that fails.
enum DaemonCheck {
    /// The rows, the daemon's own first.
    ///
    /// - Parameters:
    ///   - identity: the only identity that is told of; nil for all.
    ///   - examined: the configured identities; none where the file cannot be read.
    ///   - listen: the configured data listeners.
    ///   - file: the configuration by which the daemon was found.
    static func rows(
        of daemon: DaemonView, for identity: String?, among examined: [ExaminedIdentity] = [],
        listen: [ListenAddress] = [], file: String
    ) -> [DoctorRow] {
        guard case .running(let status, let address) = daemon else {
            return [DoctorRow(id: .daemon, identity: nil, finding: absence(of: daemon, listen))]
        }
        let own = DoctorRow(id: .daemon, identity: nil, finding: finding(of: status, at: address, file))
        let used = Set(status.routes.compactMap(\.identity))
        let identities = status.identities.filter { identity == nil || identity == $0.name }.map { known in
            let examined = examined.first { $0.name == known.name }
            let isUsed = used.contains(known.name)
            return DoctorRow(
                id: .daemon, identity: known.name,
                finding: finding(of: known, as: examined, isUsed: isUsed), isAboutUnused: !isUsed)
        }
        let routes = status.routes.filter { identity == nil || identity == $0.identity }.compactMap { route in
            route.failure.map { reason in
                DoctorRow(
                    id: .daemon, identity: nil,
                    finding: .fail(
                        "\(route.scope.words) at \(route.upstream): \(reason)",
                        fix: fix(of: route, with: examined.first { $0.name == route.identity })),
                    isAboutRoute: true)
            }
        }
        return [own] + identities + routes
    }

    private static func absence(of daemon: DaemonView, _ listen: [ListenAddress]) -> Finding {
        switch daemon {
        case .nobody(let address):
            // A full queue looks like nobody to who waits for a while.
            if case .taken(let holder) = PortProbe.look(at: address), holder != nil || !address.isTCP {
                return .fail(
                    "\(holder?.words ?? "a process") listens at \(address) (admin.listen), and accepts nobody",
                    fix: "restart it; where it stands still, kill -9 ends it")
            }
            guard let elsewhere = DaemonElsewhere(listening: listen) else {
                return .skip(
                    "none runs: nobody listens at \(address) (admin.listen); the rest is what a start would find"
                )
            }
            return .fail(
                "nobody listens at \(address) (admin.listen), but \(elsewhere.words)",
                fix: "restart that daemon, or change admin.listen back")
        case .unasked(let reason): return .skip(reason)
        case .failed: return .blocked(by: .admin)
        case .running(_, let address): return .ok("bearerd answers at \(address)")
        }
    }

    private static func finding(
        of status: StatusDocument, at address: ListenAddress, _ file: String
    ) -> Finding {
        var seen = "bearerd \(status.version) answers at \(address)"
        if let process = status.daemon?.processID { seen += ", pid \(process)" }
        if let uptime = status.uptime { seen += ", up \(uptime.words)" }
        guard status.silentWorkers.isEmpty else {
            return .fail(
                "\(seen): \(status.silentWorkers.joined(separator: ", ")) stand still",
                fix: "restart it, if that lasts")
        }
        if let other = status.otherFile(than: file) {
            return .warn(
                "\(seen), and runs by \(other), not by \(file): what follows of it is not about this file",
                fix: "look at that one with -c \(other), or give this one an admin.listen of its own")
        }
        if status.isDraining {
            return .warn(
                "\(seen), and drains: it was told to end, and finishes what has begun",
                fix: "start it anew, if nobody does")
        }
        guard let refusal = status.refusedReload else { return .ok(seen) }
        return .warn(
            "\(seen): the last reload was refused, and the old configuration is in force: "
                + (refusal.reasons.first ?? refusal.detail),
            fix: refusal.keys.isEmpty
                ? "what it names, then bearerd reload" : "restart it, or change the key back")
    }

    /// The finding for an identity's status in the daemon.
    static func finding(
        of known: SessionStatus, as examined: ExaminedIdentity?, isUsed: Bool
    ) -> Finding {
        let error = known.lastError.map { ": \($0.sentence)" } ?? ""
        let seen = known.state.rawValue + error
        switch known.state {
        case .authorized, .refreshing, .empty:
            if known.comingTrouble != nil {
                let advice = known.advice(
                    at: WallTime(sinceEpoch: WallClock.sinceEpoch), namesDoctor: false)
                let words = "\(seen); \(advice)"
                let fix = fix(of: known, as: examined)
                if known.goesOnFromMemory, !known.isOnlyHere { return .warn(words, fix: fix) }
                return isUsed ? .fail(words, fix: fix) : .warn("\(words) (no route uses it)", fix: fix)
            }
            let left = known.expiresAt.map { $0.sinceEpoch - WallClock.sinceEpoch }
            guard let left, left > .zero else { return .ok(known.state.rawValue) }
            return .ok("\(known.state.rawValue), its token is good for \(left.words)")
        case .loginRequired, .misconfigured, .authorizationError, .unavailable:
            let fix = fix(of: known, as: examined)
            return isUsed ? .fail(seen, fix: fix) : .warn("\(seen) (no route uses it)", fix: fix)
        }
    }

    private static func fix(of known: SessionStatus, as examined: ExaminedIdentity?) -> String {
        if known.lastError?.detail.hasSuffix(Sandbox.advice) ?? false { return Sandbox.advice }
        switch known.state {
        case .loginRequired: return "bearerd login \(known.name)"
        case .authorizationError: return refusedTokenFix(examined)
        case .misconfigured, .unavailable, .authorized, .refreshing, .empty:
            if known.waitsForAnother { return lockFix }
            if known.lastError?.isAboutStore ?? false { return storeFix }
            var failure = CommandFailure(
                known.state == .misconfigured ? .configuration : .unavailable, known.lastError?.detail ?? "")
            failure.code = known.lastError.map(TroubleCode.init)
            return examined?.mend(of: failure) ?? "the configuration first, then bearerd doctor"
        }
    }

    /// The remedy for a route that fails, by what its upstream says of the token.
    private static func fix(of route: RouteStatus, with identity: ExaminedIdentity?) -> String {
        switch route.refusal {
        case .insufficientScope? where identity?.client.source == nil:
            return "scope of the route or its identity: the token lacks what the upstream asks for"
        case .some: return refusedTokenFix(identity)
        case nil: break
        }
        return
            "'bearerd doctor --check upstream' tells whether it is to be reached; if it is, its own log tells what fails there"
    }

    /// The remedy where an upstream refuses the newest token.
    static func refusedTokenFix(_ identity: ExaminedIdentity?) -> String {
        guard let identity, identity.client.source != nil else {
            return "scope, audience or resource of the route or its identity"
        }
        return identity.sourceFix
    }

    /// The remedy where another process keeps the lock.
    private static let lockFix =
        "the process that keeps the lock, which the last error names; it may wait for its provider, and is to be ended only if it hangs"

    /// The remedy where the store fails.
    private static let storeFix =
        "the store, not the provider: 'bearerd doctor --check store' tells what is wrong with it"
}

extension RouteStatus {
    /// Why its upstream fails, or most of its answers do; nil if it is well, or that is not known.
    var failure: String? {
        switch figures?.health {
        case .falters(let reason)?, .fails(let reason, _)?: reason
        case .unknown?, .answers?, nil: nil
        }
    }

    /// The error of the challenge with which its upstream refuses the tokens; nil if it does not.
    var refusal: ChallengeError? {
        if case .fails(_, let refusal)? = figures?.health { refusal } else { nil }
    }
}
