// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import OAuth

extension Invariants {
    /// Checks the verdict on a token response.
    ///
    /// The first line of the input is the status, the grant that was asked with and a `Retry-After`; the rest is the
    /// body.
    package static func violation(tokenAnswer bytes: [UInt8]) -> String? {
        let (words, body) = split(bytes)
        let grantType = GrantType(configured: words.count > 1 ? words[1] : "") ?? .refreshToken
        let configuration = ClientConfiguration(name: "default", clientID: "app", grantType: grantType)
        var response = TransportResponse(status: status(words.first), body: body)
        if words.count > 2 { response.fields[.retryAfter] = words[2...].joined(separator: " ") }
        let old = Secret("the-refresh-token-before")
        let grant: Grant = grantType.needsPerson ? .refresh(old) : .original
        let wall = WallTime(secondsSinceEpoch: 1_700_000_000)
        let answer = TokenRequestResult(
            response, to: grant, of: configuration, sentAt: .now, wall: wall)

        let sent = try? JSONObject(parsing: body)["refresh_token"]?.string
        if response.status == 200, let sent, !sent.isEmpty,
            answer.refreshToken?.matches(Array(sent.utf8)) != true
        {
            return "a refresh token is lost"
        }
        let wrong =
            switch answer.result {
            case .success(let token): violation(of: token, in: response)
            case .failure(let failure): violation(of: failure)
            }
        return wrong ?? violation(ofStateWith: answer, configuration, old, wall)
    }

    private static func violation(of token: TokenResponse, in response: TransportResponse) -> String? {
        guard 200..<300 ~= response.status else { return "a success of status \(response.status)" }
        let isSendable = token.accessToken.withPlaintext {
            !$0.isEmpty && $0.utf8.allSatisfy { 0x21...0x7E ~= $0 }
        }
        guard isSendable else { return "an access token that no header may hold" }
        if let lifetime = token.lifetime, !(.seconds(1)...Duration.seconds(315_360_000) ~= lifetime) {
            return "a lifetime that nobody means"
        }
        return token.scope?.contains { $0.isEmpty || $0.contains(" ") } ?? false
            ? "a scope token with a space" : nil
    }

    static func violation(of failure: TokenFailure) -> String? {
        guard failure.code.utf8.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x7A ~= $0 || $0 == 0x5F }),
            1...40 ~= failure.code.utf8.count
        else { return "a code that may not be shown" }
        guard !failure.detail.isEmpty, failure.detail.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else {
            return "words that may not be shown"
        }
        if let delay = failure.retryAfter, !(.zero...Duration.seconds(300) ~= delay) {
            return "a wait that is too long"
        }
        return nil
    }

    /// An answer never costs the state its refresh token, nor its future.
    private static func violation(
        ofStateWith answer: TokenRequestResult, _ configuration: ClientConfiguration, _ old: Secret,
        _ wall: WallTime
    ) -> String? {
        let now = Instant.now
        var session = StoredSession(name: "default", refreshToken: old, of: configuration)
        session.generation = 1
        guard let trial = AnswerTrial(answer, for: session, of: configuration, at: now, wall) else {
            return "an engine that never asks"
        }
        let stored = trial.session
        guard let read = StoredSession(decoding: stored.encoded()), let kept = read.refreshToken else {
            return "a session that cannot be read back"
        }
        let expected = answer.refreshToken ?? old
        guard expected.withPlaintext({ kept.matches(Array($0.utf8)) }) else { return "another refresh token" }
        if let token = trial.token, !token.isUsable(at: now) { return "an expired token" }
        if trial.state != .loginRequired, !trial.isToBeWoken { return "an engine without a future" }
        return nil
    }

    /// Checks the verdict on another response of the provider.
    ///
    /// The first line of the input names what was asked (`device`, `register`, `userinfo`, `userinfo+jwt`) and the
    /// status; the rest is the body.
    package static func violation(providerAnswer bytes: [UInt8]) -> String? {
        let (words, body) = split(bytes)
        var response = TransportResponse(status: status(words.dropFirst().first), body: body)
        switch words.first {
        case "device": return violation(ofDevice: response)
        case "register": return violation(ofRegistration: response)
        case "userinfo+jwt":
            response.fields[.contentType] = "application/jwt"
            return violation(ofUserinfo: response)
        default: return violation(ofUserinfo: response)
        }
    }

    private static func violation(ofDevice response: TransportResponse) -> String? {
        let now = Instant.now
        guard let device = DeviceAuthorization(response, verifier: Secret("v"), sentAt: now) else {
            return nil
        }
        let shown = [device.userCode, device.verificationURI, device.completeVerificationURI ?? "-"]
        guard shown.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { 0x20...0x7E ~= $0 } }) else {
            return "words that a terminal would obey"
        }
        guard response.status == 200 else { return "a code of status \(response.status)" }
        return now...(now + .seconds(86_400)) ~= device.expiry ? nil : "a code that lives too long"
    }

    private static func violation(ofRegistration response: TransportResponse) -> String? {
        let configuration = ClientConfiguration(
            name: "default", clientID: "", grantType: .clientCredentials)
        do throws(TokenFailure) {
            let client = try RegistrationResponse(response, of: configuration).registration
            guard !client.clientID.isEmpty, client.clientID.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else {
                return "a client_id that may not be shown"
            }
            var session = StoredSession(identity: "default", generation: 1, binding: "")
            session.registration = client
            let read = StoredSession(decoding: session.encoded())?.registration
            return read?.clientID == client.clientID && read?.secretExpiry == client.secretExpiry
                ? nil : "a client that cannot be read back"
        } catch {
            return violation(of: error)
        }
    }

    private static func violation(ofUserinfo response: TransportResponse) -> String? {
        do throws(TokenFailure) {
            let userinfo = try UserinfoResponse(response).claims(about: nil)
            return userinfo.subject.isEmpty || userinfo["sub"] != userinfo.subject
                ? "claims about nobody" : nil
        } catch {
            return violation(of: error)
        }
    }

    /// One that HTTP knows.
    private static func status(_ word: String?) -> Int {
        word.flatMap(Int.init).flatMap { 100...599 ~= $0 ? $0 : nil } ?? 200
    }

    /// The words of the first line, and what follows it.
    static func split(_ bytes: [UInt8]) -> (words: [String], rest: [UInt8]) {
        let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        let line = String(decoding: parts.first ?? [], as: UTF8.self)
        return (line.split(separator: " ").map(String.init), parts.count == 2 ? Array(parts[1]) : [])
    }
}

extension StoredSession {
    fileprivate init(name: String, refreshToken: Secret, of configuration: ClientConfiguration) {
        self.init(identity: name, generation: 0, binding: configuration.binding)
        self.refreshToken = refreshToken
    }
}
