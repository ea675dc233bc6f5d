// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import OAuth

extension SessionStatus {
    /// The state in words, and its style.
    ///
    /// - Parameters:
    ///   - isUsed: whether a route uses the identity; another one harms nobody, whatever its state.
    ///   - source: the source of the tokens; nil for a provider.
    func words(isUsed: Bool, source: TokenSource.Name?) -> (text: String, tone: HTMLText) {
        let (text, tone): (String, HTMLText) =
            switch state {
            case .authorized where needsNoToken: ("Callers bring their tokens", "good")
            case .authorized where isOnlyHere: ("Has a token; a restart would lose its session", "bad")
            case .authorized where goesOnFromMemory && comingTrouble != nil:
                ("Has a token, which cannot be stored", "warn")
            case .authorized where comingTrouble != nil: ("Has a token, which cannot be renewed now", "warn")
            case .authorized where lastError?.code == LastError.noRefreshToken:
                ("Has a token, and somebody must log in when it ends", "warn")
            case .authorized: ("Has a token", "good")
            case .refreshing: ("Gets a token", "busy")
            case .empty where isBeingRead: ("The store is asked for its session", "busy")
            case .empty: ("Not used yet", "busy")
            case .unavailable where waitsForAnother:
                (
                    "\(lockKeeper.prefix(1).uppercased())\(lockKeeper.dropFirst()) keeps its session locked",
                    "bad"
                )
            case .unavailable:
                isStoreAway
                    ? ("The store cannot be used", "bad")
                    : ("\(source?.party ?? "The provider") gives no token", "bad")
            case .authorizationError: ("An upstream refuses the token", "warn")
            case .misconfigured where comingTrouble != nil: ("Has a token, which cannot be renewed", "warn")
            case .misconfigured:
                (
                    source.map { "\($0.party) \($0.refusal)" } ?? "The configuration brings no token",
                    "bad"
                )
            case .loginRequired where comingTrouble != nil:
                ("Has a token; somebody must log in before it ends", "warn")
            case .loginRequired: ("Somebody must log in", "bad")
            }
        return (text, isUsed || state.isWell && comingTrouble == nil ? tone : "busy")
    }

    /// The remedy; nil if none is needed, or the last error already names it.
    ///
    /// - Parameter namesCommands: true if commands find the daemon's configuration.
    func remedy(hasLogin: Bool, source: TokenSource.Name?, namesCommands: Bool = true) -> HTMLText? {
        let doctor: HTMLText = namesCommands ? " <code>bearerd doctor \(name)</code> looks closer." : .empty
        let storeDoctor: HTMLText =
            namesCommands ? " <code>bearerd doctor --check store</code> looks closer." : .empty
        switch state {
        case .authorized, .refreshing, .empty:
            guard comingTrouble != nil else { return nil }
            if isOnlyHere {
                return "Mend the store before a restart, which would lose the session.\(storeDoctor)"
            }
            if goesOnFromMemory {
                return
                    "Requests are served, and tokens are renewed in memory; storing is tried again by itself.\(storeDoctor)"
            }
            return "It is tried again by itself; the token is used as long as it lasts.\(doctor)"
        case .loginRequired:
            if lastError?.detail.contains("bearerd login") ?? false { return nil }
            guard namesCommands else { return hasLogin ? "Log in below." : nil }
            let command: HTMLText = "<code>bearerd login \(name)</code>"
            return hasLogin ? "Log in below, or run \(command)." : "Run \(command)."
        case .misconfigured where source != nil:
            return
                "Mend what it names; a changed file counts at once, the configuration after a reload.\(doctor)"
        case .misconfigured where !namesCommands:
            return "Mend what it names at the provider, or begin anew with other options."
        case .misconfigured:
            return """
                Mend what it names in the configuration, or at the provider; a changed secret counts at once, the rest after a
                reload.\(doctor)
                """
        case .authorizationError where source == .fixed || source == .basic:
            return """
                Mostly it has ended, or is for somebody else: what is in the file now is what the upstream refuses. It heals
                with the next answer that is no 401.
                """
        case .authorizationError:
            return """
                Mostly <code>scope</code>, <code>audience</code> or <code>resource</code>: the token is for somebody else. It
                heals with the next answer that is no 401.
                """
        case .unavailable where waitsForAnother:
            return lockKeeper == StoreError.thisProcess
                ? "It goes on by itself when that request has ended."
                : """
                It goes on by itself when that process, which the last error names, or its lease has ended. It may wait for the \
                provider: who ends it gives away what the provider answers.
                """
        case .unavailable where isStoreAway:
            return
                "It goes on by itself when the store is back; the provider is not asked meanwhile.\(storeDoctor)"
        case .unavailable: return "It is tried again by itself.\(doctor)"
        }
    }
}

extension SessionState {
    /// True if nobody has to act.
    var isWell: Bool { self == .authorized || self == .refreshing || self == .empty }
}
