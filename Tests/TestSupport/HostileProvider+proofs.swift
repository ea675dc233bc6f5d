// SPDX-License-Identifier: Apache-2.0

/// Tokens bound to keys (RFC 9449), and pushed authorization requests (RFC 9126).
extension HostileProvider {
    /// Checks the proof of each token request, and binds the issued tokens to its key.
    ///
    /// If the proof is right, the answer of `answer` is sent, with the nonce for the next proof.
    package func demandProofs(_ judge: ProofJudge) {
        always { request, provider in
            switch judge.judge(request.message, at: provider.tokenEndpoint) {
            case .bad(let fault): return provider.refusal("invalid_dpop_proof", fault, judge)
            case .nonceWanted: return provider.refusal("use_dpop_nonce", "another nonce is wanted", judge)
            case .good(let key):
                if let spent = request["refresh_token"],
                    let bound = provider.bindings.withLock({ $0[spent] }), bound != key
                {
                    return provider.refusal("invalid_grant", "bound to another key", judge)
                }
                if let code = request["code"], let grant = provider.grant(of: code) {
                    guard grant["dpop_jkt"] ?? key == key, request["redirect_uri"] == grant["redirect_uri"],
                        sha256(request["code_verifier"] ?? "") == grant["code_challenge"]
                    else { return provider.refusal("invalid_grant", "not who began the login", judge) }
                }
                let refreshToken =
                    request.grant == "client_credentials"
                    ? nil : provider.makeRefreshToken(after: request["refresh_token"])
                return provider.boundTokens(to: key, refreshToken: refreshToken, judge)
            }
        }
    }

    /// Tokens of the type `type` for a key.
    package func boundTokens(
        to key: String, type: String = "DPoP", refreshToken: String? = nil, members: String = "",
        _ judge: ProofJudge
    ) -> Reply {
        let token = makeAccessToken()
        bindings.withLock { bindings in
            bindings[token] = key
            if let refreshToken { bindings[refreshToken] = key }
        }
        let refresh = refreshToken.map { #","refresh_token":"\#($0)""# } ?? ""
        return .response(
            200, [("Content-Type", "application/json")] + judge.answerFields,
            #"{"access_token":"\#(token)","token_type":"\#(type)","expires_in":300\#(refresh)\#(members)}"#)
    }

    private func refusal(_ code: String, _ words: String, _ judge: ProofJudge) -> Reply {
        .response(
            400, [("Content-Type", "application/json")] + judge.answerFields,
            #"{"error":"\#(code)","error_description":"\#(words.filter { $0 != "\"" })"}"#)
    }

    // MARK: As a resource server

    /// Makes the answers of a resource server that accepts bound tokens only.
    ///
    /// - Parameter schemes: its challenges, the last one DPoP's.
    package func resource(
        _ judge: ProofJudge, https: Bool = false, before: String = ""
    ) -> @Sendable (RawRequest) -> Reply {
        { request in
            let path = request.head.target.prefix { $0 != "?" }
            let url = "\(https ? "https" : "http")://\(request["Host"] ?? "")\(path)"
            func refusal(_ error: String) -> Reply {
                .response(
                    401,
                    [("WWW-Authenticate", #"\#(before)DPoP algs="ES256 EdDSA", error="\#(error)""#)]
                        + judge.answerFields)
            }
            guard let field = request["Authorization"], field.hasPrefix("DPoP ") else {
                return refusal("invalid_token")
            }
            let token = String(field.dropFirst(5))
            switch judge.judge(request, at: url, token: token) {
            case .bad: return refusal("invalid_dpop_proof")
            case .nonceWanted: return refusal("use_dpop_nonce")
            case .good(let key):
                guard self.bindings.withLock({ $0[token] }) == key else { return refusal("invalid_token") }
                return .response(200, judge.answerFields, request.text)
            }
        }
    }

    // MARK: Pushed requests

    /// Accepts pushed authorization requests, each for `lifetime` seconds.
    ///
    /// - Parameter authenticates: whether a request is the client's.
    package func takePushedRequests(
        _ judge: ProofJudge? = nil, lifetime: String = "60",
        authenticates: @escaping @Sendable (TokenRequest) -> Bool = { _ in true }
    ) {
        serve("POST", "/par") { [unowned self] message in
            let request = TokenRequest(number: 0, message: message)
            if let judge {
                switch judge.judge(message, at: issuer + "/par") {
                case .bad(let fault): return refusal("invalid_dpop_proof", fault, judge)
                case .nonceWanted: return refusal("use_dpop_nonce", "another nonce is wanted", judge)
                case .good: break
                }
            }
            guard authenticates(request), request["request_uri"] == nil, request["client_id"] != nil,
                request.parameters.count == Set(request.parameters.map(\.name)).count
            else { return .oauthError("invalid_client", status: 401) }
            let reference = "urn:ietf:params:oauth:request_uri:" + randomText()
            let parameters = Dictionary(
                request.parameters.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
            pushed.withLock { $0[reference] = parameters }
            return .response(
                201, [("Content-Type", "application/json")] + (judge?.answerFields ?? []),
                #"{"request_uri":"\#(reference)","expires_in":\#(lifetime)}"#)
        }
    }

    /// Consents to the authorization request at `url`, which works once, and returns the URL to which the
    /// browser is redirected.
    ///
    /// - Parameters:
    ///   - isPushed: true if the URL may contain only a reference to a pushed request.
    ///   - named: the issuer that the response names, the provider's own if empty; nil for none.
    ///   - state: sent in place of the request's `state`; empty for none.
    /// - Throws: if the URL contains more than it may.
    package func approve(
        _ url: String, isPushed: Bool = true, issuer named: String? = "", state: String? = nil
    ) throws -> String {
        let parts = url.split(separator: "?", maxSplits: 1)
        guard parts.count == 2, parts[0] == issuer + "/authorize" else { throw WireError("went to \(url)") }
        let shown = Dictionary(
            parts[1].split(separator: "&").map { pair in
                let words = pair.split(separator: "=", maxSplits: 1)
                return (String(words[0]), words.count > 1 ? formDecoded(words[1]) : "")
            }, uniquingKeysWith: { first, _ in first })
        let reference = shown["request_uri"] ?? ""
        guard !isPushed || Set(shown.keys) == ["client_id", "request_uri"],
            let parameters = isPushed ? pushed.withLock({ $0.removeValue(forKey: reference) }) : shown,
            parameters["client_id"] == shown["client_id"], parameters["code_challenge_method"] == "S256"
        else { throw WireError("the browser shows \(shown.keys.sorted())") }
        let code = "code-" + randomText()
        codes.withLock { $0[code] = parameters }
        var answer = "?code=\(code)"
        if let text = state ?? parameters["state"], !text.isEmpty { answer += "&state=\(text)" }
        if let named { answer += "&iss=\(named.isEmpty ? issuer : named)" }
        return (parameters["redirect_uri"] ?? "") + answer
    }

    /// The parameters of the authorization request for which `code` was issued; works once.
    package func grant(of code: String) -> [String: String]? {
        codes.withLock { $0.removeValue(forKey: code) }
    }
}
