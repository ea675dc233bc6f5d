// SPDX-License-Identifier: Apache-2.0

internal import BearerdAdminAPI
internal import BearerdHTTPMessages
internal import BearerdHTTPServer
internal import BearerdJSON
internal import BearerdObservability
internal import BearerdSystem
internal import OAuth

/// The reason why the admin listener refuses or fails a request.
enum AdminError: Error, Equatable {
    /// The `Host` is not the listener's; its text is nil if it cannot be shown.
    case wrongHost(shown: String?)
    /// There is no `X-Bearerd-Admin`, or the request comes from another site's page.
    case notFromHere
    case wrongKey
    /// The listener is off loopback and has no key.
    case noKey
    /// The peer sent too many wrong keys; its keys are judged again after this time.
    case tooManyGuesses(Duration)
    /// Another user of this machine wants to change something without the key.
    case notOurUser(PeerUser)
    /// A session was sent for an identity whose grant needs no person.
    case needsNobody
    /// The action is on a session at a provider, and the identity's tokens come from a source.
    case noProvider(TokenSource.Name)
    /// The request did not arrive, or cannot be served.
    case notReceived(ServiceRefusal)
    /// The most event streams are open already.
    case tooManyEventStreams
    case notFound
    /// The process is not to be ended from here.
    case quitIsOff
    /// No identity has this name.
    case noSuchIdentity(String)
    /// `?route=` names none of these routes.
    case noSuchRoute(paths: [String])
    case methodNotAllowed(allowed: [HTTPMethod])
    /// The body is not what the action takes.
    case badBody
    /// A login failed.
    case login(LoginError)
    /// The configuration was not reloaded.
    case reload(ReloadRefusal)
    /// An action on an identity's session failed; `reason` is its last error in words.
    case session(SessionFailure, of: String, reason: String? = nil)

    /// The status of the answer; here a failure of this target becomes a status, and nowhere else.
    var status: Int {
        switch self {
        case .wrongHost: 421
        case .notFromHere, .wrongKey, .noKey, .notOurUser, .needsNobody, .noProvider: 403
        case .tooManyGuesses: 429
        case .notReceived(let reason): reason.status
        case .tooManyEventStreams: 503
        case .notFound, .quitIsOff, .noSuchIdentity, .noSuchRoute: 404
        case .methodNotAllowed: 405
        case .badBody: 400
        case .reload(let refusal): refusal.status
        case .login(.refused(let refusal)): refusal.isTransient ? 503 : 403
        case .login(.expired): 504
        case .login(.cancelled): 503
        case .login(.unstored(.spentImport)), .login(.unstored(.outdated)): 409
        case .login(.failed), .session(.server, _, _): 502
        case .login(.unstored), .session(.token, _, _), .session(.store, _, _): 503
        }
    }

    /// The stable code for programs.
    var code: ProblemCode {
        switch self {
        case .wrongHost: .wrongHost
        case .notFromHere, .wrongKey, .noKey, .notOurUser, .needsNobody, .noProvider: .accessDenied
        case .tooManyGuesses: .rateLimited
        case .notReceived(let reason): reason.code
        case .tooManyEventStreams: .busy
        case .notFound, .quitIsOff, .noSuchIdentity, .noSuchRoute: .noRoute
        case .methodNotAllowed: .methodNotAllowed
        case .badBody: .badRequest
        case .reload(let refusal): refusal.code
        case .login(.refused(let refusal)): refusal.isTransient ? .unavailable : .loginRefused
        case .login(.expired): .loginExpired
        case .login(.cancelled): .unavailable
        case .session(.token(.loginRequired), _, _): .loginRequired
        case .session(.token(.misconfigured), _, _): .misconfigured
        case .session(.token(.unavailable), _, _), .session(.token(.storeUnavailable), _, _),
            .session(.token(.cancelled), _, _), .session(.token(.stopped), _, _):
            .unavailable
        case .session(.server(let failure), _, _): ProblemCode(failure.reason)
        case .login(.failed(let failure)):
            switch failure.kind {
            case .final, .doubtful: .loginRefused
            case .misconfigured: .misconfigured
            case .transient: ProblemCode(failure.reason)
            }
        case .login(.unstored(.spentImport)): .spentImport
        case .login(.unstored(.outdated)): .loginOutdone
        case .login(.unstored), .session(.store, _, _): .storeUnavailable
        }
    }

    /// The problem and its remedy, for people.
    var detail: String {
        switch self {
        case .wrongHost(let host?):
            "This listener does not answer to the host '\(host)'; if it is one of its names, add it to access.hosts."
        case .wrongHost(nil):
            "This listener does not answer to the request's Host; access.hosts lists those it does."
        case .notFromHere:
            "Actions need the header X-Bearerd-Admin: 1 and no other site's Origin; a login is begun by following a link."
        case .wrongKey:
            "The admin key is missing or wrong: send it as Authorization: Bearer or X-Bearerd-Admin."
        case .noKey: "Off loopback this needs admin.key, and none is configured."
        case .tooManyGuesses: "Too many wrong admin keys came from this address."
        case .notOurUser(let user):
            "What changes something is for the daemon's own user, root and admin.peer_uids, and \(user.words): "
                + "send admin.key as Authorization: Bearer or X-Bearerd-Admin, or list the user in admin.peer_uids."
        case .needsNobody: "This identity's grant needs no person, so there is no session to take."
        case .noProvider(let source):
            "The tokens come from source: \(source.rawValue): there is no provider that knows a session, a person or a "
                + "client. refresh and invalidate ask the source again."
        case .notReceived(let reason): reason.sentence
        case .tooManyEventStreams:
            "Eight event streams of this user are open already, or sixteen in all; close a window of the page."
        case .notFound:
            "Nothing is here: the status page is /, and /healthz, /readyz, /metrics and /api/status are for programs."
        case .quitIsOff: "This is off: admin.quit: true would let it end the process."
        case .noSuchIdentity(let name):
            "This daemon has no identity '\(String(name.prefix(100)).printable)': it runs by another configuration, or the one that "
                + "names it is not in force yet."
        case .noSuchRoute(let paths):
            "route= names no path of a route: there are \(paths.prefix(10).joined(separator: ", "))\(paths.count > 10 ? " …" : "")."
        case .methodNotAllowed: "The method is not for this resource."
        case .badBody: "The body is not what this takes."
        case .reload(let refusal): refusal.sentence
        case .login(.refused(let refusal)): refusal.sentence + refusal.advice
        case .login(.expired): "Nobody logged in in time."
        case .login(.cancelled): "The login was given up."
        case .login(.failed(let failure)): "no login: \(failure.sentence)"
        case .session(.token(.loginRequired), let identity, _):
            "Somebody must log in: run 'bearerd login \(identity)'."
        case .session(.token(.misconfigured), _, let reason):
            "The provider, or the source in its place, refuses this client or its request\(Self.words(reason))"
        case .session(.token(.unavailable), _, let reason), .session(.token(.cancelled), _, let reason),
            .session(.token(.stopped), _, let reason):
            "The provider, or the source in its place, gave no token\(Self.words(reason))"
        case .session(.token(.storeUnavailable), _, let reason):
            "The store of the sessions cannot be used, may lack what others have, or another process keeps its lock, so no token is asked for\(Self.words(reason))"
        case .session(.server(let failure), _, _): failure.detail
        case .login(.unstored(.outdated)):
            "Somebody has logged in or out since, and that counts: this login is outdone, and nobody uses what it brought."
        case .login(.unstored(let error)), .session(.store(let error), _, _): error.reason
        }
    }

    /// The end of a sentence: the reason, or where it is told.
    private static func words(_ reason: String?) -> String {
        reason.map { ": \($0)" } ?? "; see last_error in /api/status."
    }

    /// The problem and its remedy where no command finds the daemon's configuration.
    private var detailWithoutCommands: String {
        guard case .session(.token(.loginRequired), let identity, _) = self else { return detail }
        return "Somebody must log in: open \(AdminResource.login(identity: identity).path) here in a browser."
    }

    /// The answer (RFC 9457).
    ///
    /// - Parameter namesCommands: true if commands find the daemon's configuration.
    func reply(namesCommands: Bool) -> (head: HTTPResponse, body: [UInt8]) {
        let detail = namesCommands ? detail : detailWithoutCommands
        let members: JSONObject = if case .reload(let refusal) = self { refusal.members } else { [:] }
        let problem = AdminProblem(status: status, code: code, detail: detail, members: members).answer
        var head = problem.head
        switch self {
        case .methodNotAllowed(let allowed):
            head.fields[.allow] = allowed.map(\.rawValue).joined(separator: ", ")
        case .session(.token(let error), _, _):
            if let delay = error.retryAfter {
                head.fields[.retryAfter] = "\(max(1, delay.components.seconds))"
            }
        case .tooManyGuesses(let delay):
            head.fields[.retryAfter] = "\(max(1, delay.components.seconds + 1))"
        case .notReceived(.busy), .tooManyEventStreams:
            head.fields[.retryAfter] = "1"
        case .wrongHost, .notFromHere, .wrongKey, .noKey, .notOurUser, .needsNobody, .noProvider,
            .notFound, .quitIsOff, .noSuchIdentity, .noSuchRoute,
            .badBody, .login, .session, .notReceived, .reload:
            break
        }
        if status == 503, !head.fields.contains(.retryAfter) { head.fields[.retryAfter] = "30" }
        return (head, problem.body)
    }
}

extension ServiceRefusal {
    fileprivate var code: ProblemCode {
        switch self {
        case .malformed:
            switch status {
            case 414: .uriTooLong
            case 431: .headersTooLarge
            case 501: .notImplemented
            case 505: .versionNotSupported
            default: .badRequest
            }
        case .timedOut: .requestTimeout
        case .bodyTooLarge: .bodyTooLarge
        case .busy: .busy
        }
    }

    fileprivate var sentence: String {
        switch self {
        case .malformed: "The request is not HTTP/1.1 as it is taken here\(rule.map { ": \($0)" } ?? "")."
        case .timedOut: "The request did not arrive whole within timeouts.header."
        case .bodyTooLarge: "The body is larger than 64 KiB."
        case .busy: "Too many requests are being worked on."
        }
    }
}
