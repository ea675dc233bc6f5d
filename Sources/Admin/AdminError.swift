// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import JSON
internal import OAuth

/// Why the admin listener does not do what it was asked.
enum AdminError: Error, Equatable {
    case wrongHost
    /// No `X-Bearerd-Admin`, or another page's `Origin`.
    case notFromHere
    case wrongKey
    /// The listener is off loopback and has no key.
    case noKey
    case notFound
    case methodNotAllowed(allowed: [HTTPMethod])
    /// A part of the contract that is not built yet.
    case notSupported
    /// The action was tried and brought no token.
    case token(TokenError)
    /// The provider did not do what the action needs.
    case provider(TokenFailure)
    /// The session could not be changed.
    case store(StoreError)

    init(_ failure: SessionFailure) {
        switch failure {
        case .token(let error): self = .token(error)
        case .server(let error): self = .provider(error)
        case .store(let error): self = .store(error)
        }
    }

    /// The only place where a failure of this target becomes a status.
    var status: Int {
        switch self {
        case .wrongHost: 421
        case .notFromHere, .wrongKey, .noKey: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .notSupported: 501
        case .token, .store: 503
        case .provider: 502
        }
    }

    /// The stable word for programs.
    var code: String {
        switch self {
        case .wrongHost: "wrong_host"
        case .notFromHere, .wrongKey, .noKey: "access_denied"
        case .notFound: "no_route"
        case .methodNotAllowed: "method_not_allowed"
        case .notSupported: "not_implemented"
        case .token(.loginRequired): "login_required"
        case .token(.misconfigured): "misconfigured"
        case .token(.unavailable), .token(.cancelled): "idp_unavailable"
        case .provider(let failure): failure.code
        case .store: "store_unavailable"
        }
    }

    /// What to do, for people.
    private var detail: String {
        switch self {
        case .wrongHost: "The Host is not one of this listener's; add it to access.hosts."
        case .notFromHere: "Actions need the header X-Bearerd-Admin: 1 and no other site's Origin."
        case .wrongKey:
            "The admin key is missing or wrong: send it as Authorization: Bearer or X-Bearerd-Admin."
        case .noKey: "Off loopback this needs admin.key, and none is configured."
        case .notFound: "Nothing is here."
        case .methodNotAllowed: "The method is not for this resource."
        case .notSupported: "This is not supported yet."
        case .token(.loginRequired): "The provider wants somebody to log in."
        case .token(.misconfigured):
            "The provider refuses this client or its request; see last_error in /api/status."
        case .token(.unavailable), .token(.cancelled):
            "The provider gave no token; see last_error in /api/status."
        case .provider(let failure): failure.detail
        case .store(.busy): "Another process keeps the store's lock."
        case .store(.unavailable(let reason)): reason
        }
    }

    /// The answer (RFC 9457).
    var reply: (head: HTTPResponse, body: [UInt8]) {
        var head = HTTPResponse(status: status)
        head.fields[.contentType] = "application/problem+json"
        switch self {
        case .methodNotAllowed(let allowed):
            head.fields[.allow] = allowed.map(\.rawValue).joined(separator: ", ")
        case .token(let error):
            if let delay = error.retryAfter {
                head.fields[.retryAfter] = "\(max(1, delay.components.seconds))"
            }
        case .wrongHost, .notFromHere, .wrongKey, .noKey, .notFound, .notSupported, .provider, .store:
            break
        }
        let problem: JSONValue = [
            "type": "about:blank", "title": .string(head.reason), "status": .integer(Int64(status)),
            "detail": .string(detail), "code": .string(code),
        ]
        return (head, problem.serialized())
    }
}
