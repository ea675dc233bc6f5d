// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON

/// Installation tokens of a GitHub App.
extension AuthorizationServer {
    /// The App's JWT may live for ten minutes; in seconds, with room for clocks that differ.
    private static let proofLifetime: Int64 = 540
    private static let proofAge: Int64 = 30

    /// A token of an installation, for the repositories and permissions that are asked for.
    func installationToken(of app: GitHubApp, _ wall: WallTime) async throws(TokenFailure) -> TokenResponse {
        let path = "app/installations/\(PercentEncoding.encoded(app.installationID))/access_tokens"
        let root = "\(app.api)"
        guard let url = HTTPURL(root + (root.hasSuffix("/") ? "" : "/") + path) else {
            throw TokenFailure(
                .misconfigured, .badIssuer, detail: "api is no URL that a path can be put behind")
        }
        var request = TransferRequest(method: .post, url: url, timeLimit: configuration.tokenTimeLimit)
        let proof = try await proof(of: app, wall)
        let authorization = proof.withPlaintext { "Bearer \($0)" }
        request.fields.append(.authorization, authorization)
        request.fields.append(.accept, "application/vnd.github+json")
        request.fields.append(.contentType, "application/json")
        // A request without it is refused.
        if let agent = HTTPFields.Name("User-Agent") { request.fields.append(agent, "bearerd") }
        if let version = HTTPFields.Name("X-GitHub-Api-Version") {
            request.fields.append(version, "2022-11-28")
        }
        request.body = Self.body(of: app).serialized()
        let response = try await ask(request)
        guard response.status == 201 || response.status == 200 else {
            throw refusal(response, to: request, wall)
        }
        return try InstallationResponse(response).token(at: wall)
    }

    private static func body(of app: GitHubApp) -> JSONObject {
        var body = JSONObject()
        if !app.repositories.isEmpty { body["repositories"] = .array(app.repositories.map { .string($0) }) }
        if !app.permissions.isEmpty {
            var permissions = JSONObject()
            for permission in app.permissions { permissions[permission.name] = .string(permission.value) }
            body["permissions"] = .object(permissions)
        }
        return body
    }

    /// The App's own JWT, signed with RS256.
    private func proof(of app: GitHubApp, _ wall: WallTime) async throws(TokenFailure) -> Secret {
        let text = try await credentials.require(.privateKey)
        let now = wall.secondsSinceEpoch
        let claims: JSONObject = [
            "iat": .integer(now - Self.proofAge), "exp": .integer(now + Self.proofLifetime),
            "iss": .string(app.appID),
        ]
        do throws(JOSEError) {
            return Secret(try PrivateKey(parsing: text).sign(claims, algorithm: .rs256))
        } catch {
            throw TokenFailure(
                .misconfigured, .badCredential(.privateKey),
                detail: "\(credentials.key(of: .privateKey)) holds no RSA key that can be used")
        }
    }

    /// The meaning of a refusal: a wrong App, key, installation or permission is the configuration's, a limit ends by itself.
    private func refusal(
        _ response: TransportResponse, to request: TransferRequest, _ wall: WallTime
    ) -> TokenFailure {
        let said = ResponseBody(response.body).message.flatMap {
            ErrorDescription($0, beside: nil, hiding: request.secrets)?.text
        }
        let detail = "\(response.place) answered \(response.status)" + (said.map { ": \"\($0)\"" } ?? "")
        // The secondary limits may come without a field; GitHub's advice is to wait for a minute then.
        let isSecondary = said?.contains("secondary rate limit") ?? false
        let wait =
            RetryAfter.delay(in: response.fields, wall: wall) ?? response.fields.untilReset(wall)
            ?? (isSecondary ? .seconds(60) : nil)
        let isLimited = response.status == 429 || response.status == 403 && wait != nil
        switch response.status {
        case 401, 403, 404, 422:
            guard !isLimited else { break }
            return TokenFailure(
                .misconfigured, .status(response.status),
                detail: detail
                    + "; look at app_id, installation_id, private_key_file, repositories and permissions")
        default: break
        }
        return TokenFailure(.transient, .status(response.status), detail: detail, retryAfter: wait)
    }
}

extension ResponseBody {
    /// GitHub's own words on an error.
    fileprivate var message: String? {
        guard case .object(let object) = self else { return nil }
        return object["message"]?.string
    }
}

extension HTTPFields {
    /// How long a spent rate limit lasts, at most five minutes; nil if it is not spent.
    fileprivate func untilReset(_ wall: WallTime) -> Duration? {
        guard let remaining = HTTPFields.Name("X-RateLimit-Remaining"), self[remaining] == "0",
            let reset = HTTPFields.Name("X-RateLimit-Reset"), let end = self[reset].flatMap({ Int64($0) })
        else { return nil }
        let seconds = min(max(end, 0), 1_000_000_000_000) - wall.secondsSinceEpoch
        return .seconds(min(max(seconds, 1), 300))
    }
}
