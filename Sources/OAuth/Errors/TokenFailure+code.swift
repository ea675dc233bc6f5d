// SPDX-License-Identifier: Apache-2.0

extension TokenFailure.Reason {
    private static let statusPrefix = "http_"

    /// The word for it in status, log lines and answers: the server's own `error`, else one of ours.
    public var code: String {
        switch self {
        case .refused(let error): error.rawValue
        case .status(let status): "\(Self.statusPrefix)\(status)"
        case .noEndpoint(let endpoint): "no_\(endpoint.rawValue)"
        case .noCredential(let credential): "no_\(credential.rawValue)"
        case .unreadableCredential(let credential): "unreadable_\(credential.rawValue)"
        case .badCredential(let credential): "bad_\(credential.rawValue)"
        case .store(let error): error.code
        case .emptyResponse: "empty_answer"
        case .noAccessToken: "no_access_token"
        case .badAccessToken: "bad_access_token"
        case .wrongTokenType: "wrong_token_type"
        case .expiredOnArrival: "expired_on_arrival"
        case .tokenUnchanged: "token_unchanged"
        case .commandFailed: "command_failed"
        case .badResponse: "bad_answer"
        case .badParameter: "bad_parameter"
        case .badIDToken: "bad_id_token"
        case .badSignature: "bad_signature"
        case .noKeys: "no_keys"
        case .badUserinfo: "bad_userinfo"
        case .noSubject: "no_subject"
        case .subjectMismatch: "subject_mismatch"
        case .badRegistration: "bad_registration"
        case .noMetadata: "no_metadata"
        case .issuerMismatch: "issuer_mismatch"
        case .unreachable: "unreachable"
        case .certificate: "certificate"
        case .timedOut: "timed_out"
        case .interrupted, .cancelled: "interrupted"
        case .responseTooLarge: "answer_too_large"
        case .notHTTP: "not_http"
        case .badIssuer: "bad_issuer"
        case .insecureEndpoint: "insecure_endpoint"
        case .notRegistered: "not_registered"
        case .noProof: "no_proof"
        case .badRedirectURI: "bad_redirect_uri"
        case .noIdentity: "no_identity"
        case .superseded: "superseded"
        }
    }

    /// A detail and its code, which is left out where the detail says as much.
    fileprivate static func sentence(_ detail: String, _ code: String) -> String {
        let word = code.hasPrefix(statusPrefix) ? code.dropFirst(statusPrefix.count) : code[...]
        return detail.contains(word) ? detail : "\(detail) (\(code))"
    }
}

extension TokenFailure {
    /// The word for its reason.
    public var code: String { reason.code }

    /// The whole of it for a person, with the code once.
    public var sentence: String { Reason.sentence(detail, code) }
}

extension LastError {
    /// The whole of it for a person, with the code once.
    public var sentence: String { TokenFailure.Reason.sentence(detail, code) }
}
