// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
internal import HTTPTypes
internal import OAuth

/// Why the admin listener does not do what it was asked.
enum AdminError: Error, Equatable {
    /// Named where it can be shown.
    case wrongHost(shown: String?)
    /// No `X-Bearerd-Admin`, or another page's `Origin`.
    case notFromHere
    case wrongKey
    /// The listener is off loopback and has no key.
    case noKey
    /// Too many wrong keys came from there; judged again after this time.
    case tooManyGuesses(Duration)
    /// A session is taken from our own user, or from who has the key.
    case notOurUser
    /// A session is taken for a grant that needs a person.
    case needsNobody
    /// The request did not arrive, or cannot be worked on.
    case notReceived(ServiceRefusal)
    case notFound
    case methodNotAllowed(allowed: [HTTPMethod])
    /// A part of the contract that is not built yet.
    case notSupported
    /// The body is not what the action takes.
    case badBody
    /// The person, or the provider, said no to a login.
    case refused(AuthorizationRefusal)
    /// Nobody decided about a login in time.
    case expired
    /// A login brought no tokens, or none that are believed.
    case notLoggedIn(TokenFailure)
    /// The action was tried and brought no token for an identity.
    case token(TokenError, of: String)
    /// The provider did not do what the action needs.
    case provider(TokenFailure)
    /// The session could not be changed.
    case store(StoreError)

    init(_ failure: SessionFailure, of identity: String) {
        switch failure {
        case .token(let error): self = .token(error, of: identity)
        case .server(let error): self = .provider(error)
        case .store(let error): self = .store(error)
        }
    }

    init(_ error: LoginError) {
        switch error {
        case .refused(let refusal): self = .refused(refusal)
        case .expired: self = .expired
        case .failed(let failure): self = .notLoggedIn(failure)
        case .unstored(let error): self = .store(error)
        }
    }

    /// The only place where a failure of this target becomes a status.
    var status: Int {
        switch self {
        case .wrongHost: 421
        case .notFromHere, .wrongKey, .noKey, .notOurUser, .needsNobody: 403
        case .tooManyGuesses: 429
        case .notReceived(let reason): reason.status
        case .notFound: 404
        case .methodNotAllowed: 405
        case .notSupported: 501
        case .badBody: 400
        case .refused: 403
        case .expired: 504
        case .token, .store: 503
        case .provider, .notLoggedIn: 502
        }
    }

    /// The stable word for programs.
    var code: ProblemCode {
        switch self {
        case .wrongHost: .wrongHost
        case .notFromHere, .wrongKey, .noKey, .notOurUser, .needsNobody: .accessDenied
        case .tooManyGuesses: .rateLimited
        case .notReceived(let reason): reason.code
        case .notFound: .noRoute
        case .methodNotAllowed: .methodNotAllowed
        case .notSupported: .notImplemented
        case .badBody: .badRequest
        case .refused: .loginRefused
        case .expired: .loginExpired
        case .token(.loginRequired, _): .loginRequired
        case .token(.misconfigured, _): .misconfigured
        case .token(.unavailable, _), .token(.cancelled, _): .unavailable
        case .provider(let failure): ProblemCode(failure.reason)
        case .notLoggedIn(let failure):
            switch failure.kind {
            case .final, .doubtful: .loginRefused
            case .misconfigured: .misconfigured
            case .transient: ProblemCode(failure.reason)
            }
        case .store: .storeUnavailable
        }
    }

    /// What to do, for people.
    private var detail: String {
        switch self {
        case .wrongHost(let host?):
            "This listener does not answer to the host '\(host)'; if it is one of its names, add it to access.hosts."
        case .wrongHost(nil):
            "This listener does not answer to the request's Host; access.hosts lists those it does."
        case .notFromHere: "Actions need the header X-Bearerd-Admin: 1 and no other site's Origin."
        case .wrongKey:
            "The admin key is missing or wrong: send it as Authorization: Bearer or X-Bearerd-Admin."
        case .noKey: "Off loopback this needs admin.key, and none is configured."
        case .tooManyGuesses: "Too many wrong admin keys came from this address."
        case .notOurUser:
            "A session is taken from the daemon's own user and from root; others need admin.key."
        case .needsNobody: "This identity's grant needs no person, so there is no session to take."
        case .notReceived(let reason): reason.sentence
        case .notFound: "Nothing is here."
        case .methodNotAllowed: "The method is not for this resource."
        case .notSupported: "This is not supported yet."
        case .badBody: "The body is not what this takes."
        case .refused(let refusal): refusal.sentence
        case .expired: "Nobody logged in in time."
        case .token(.loginRequired, let identity): "Somebody must log in: run 'bearerd login \(identity)'."
        case .token(.misconfigured, _):
            "The provider refuses this client or its request; see last_error in /api/status."
        case .token(.unavailable, _), .token(.cancelled, _):
            "The provider gave no token; see last_error in /api/status."
        case .provider(let failure): failure.detail
        case .notLoggedIn(let failure): "no login: \(failure.sentence)"
        case .store(let error): error.reason
        }
    }

    /// The answer (RFC 9457).
    var reply: (head: HTTPResponse, body: [UInt8]) {
        let problem = Problem(status: status, code: code.rawValue, detail: detail)
        var head = problem.head
        switch self {
        case .methodNotAllowed(let allowed):
            head.fields[.allow] = allowed.map(\.rawValue).joined(separator: ", ")
        case .token(let error, _):
            if let delay = error.retryAfter {
                head.fields[.retryAfter] = "\(max(1, delay.components.seconds))"
            }
        case .tooManyGuesses(let delay):
            head.fields[.retryAfter] = "\(max(1, delay.components.seconds + 1))"
        case .notReceived(.busy):
            head.fields[.retryAfter] = "1"
        case .wrongHost, .notFromHere, .wrongKey, .noKey, .notOurUser, .needsNobody, .notFound,
            .notSupported, .badBody, .refused, .expired, .notLoggedIn, .provider, .store, .notReceived:
            break
        }
        return (head, problem.body)
    }
}

extension ServiceRefusal {
    fileprivate var code: ProblemCode {
        switch self {
        case .malformed: .badRequest
        case .timedOut: .requestTimeout
        case .bodyTooLarge: .bodyTooLarge
        case .busy: .busy
        }
    }

    fileprivate var sentence: String {
        switch self {
        case .malformed: "The request is not HTTP/1.1 as it is taken here."
        case .timedOut: "The request did not arrive whole within timeouts.header."
        case .bodyTooLarge: "The body is larger than 64 KiB."
        case .busy: "Too many requests are being worked on."
        }
    }
}

extension AuthorizationRefusal {
    /// What a person reads of it.
    fileprivate var sentence: String {
        let code = code?.rawValue ?? "an error that cannot be shown"
        return "the login was refused: \(code)" + (description.map { ": \($0)" } ?? "")
    }
}
