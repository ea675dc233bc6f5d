// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import OAuth

extension IdentityState {
    /// What a person reads for the word of the contract, and how it looks.
    var words: (text: HTMLText, tone: HTMLText) {
        switch self {
        case .authorized: ("Has a token", "good")
        case .refreshing: ("Gets a token", "busy")
        case .empty: ("Not used yet", "busy")
        case .unavailable: ("The provider gives no token", "warn")
        case .authorizationError: ("An upstream refuses the token", "warn")
        case .misconfigured: ("The provider refuses the configuration", "bad")
        case .loginRequired: ("Somebody must log in", "bad")
        }
    }

    /// Whether it goes on by itself, or has nothing to do.
    var isWell: Bool { self == .authorized || self == .refreshing || self == .empty }

    /// What mends it; nil where nothing needs mending.
    func remedy(_ name: String, hasLogin: Bool) -> HTMLText? {
        let doctor: HTMLText = "<code>bearerd doctor \(name)</code>"
        switch self {
        case .authorized, .refreshing, .empty: return nil
        case .loginRequired:
            let command: HTMLText = "<code>bearerd login \(name)</code>"
            return hasLogin ? "Log in below, or run \(command)." : "Run \(command)."
        case .misconfigured:
            return """
                Mend what it names in the configuration, or at the provider; a changed secret counts at once, the rest after a
                reload. \(doctor) looks closer.
                """
        case .authorizationError:
            return """
                Mostly <code>scope</code>, <code>audience</code> or <code>resource</code>: the token is for somebody else. It
                heals with the next answer that is no 401.
                """
        case .unavailable: return "It is tried again by itself. \(doctor) looks closer."
        }
    }
}
