// SPDX-License-Identifier: Apache-2.0

import Cryptography
import JSON

/// The device authorization endpoint's answer (RFC 8628 §3.2).
public struct DeviceAuthorization: Sendable {
    private static let standardInterval: Duration = .seconds(5)
    private static let standardLifetime: Duration = .seconds(300)
    private static let longestLifetime: Duration = .seconds(86_400)

    /// What the client asks for tokens with (`device_code`).
    package let code: Secret
    /// PKCE's `code_verifier`: RFC 8628 knows none, servers that want one from each client do (Keycloak).
    package let verifier: Secret
    /// What the person types in (`user_code`).
    public let userCode: String
    /// The page where the person types the code in (RFC 8628 §3.2, `verification_uri`).
    public let verificationURI: String
    /// The page that has the code filled in (`verification_uri_complete`), if the server has one.
    public let completeVerificationURI: String?
    /// The code is of no use from here on.
    public private(set) var expiry: Instant
    /// What else the answer had.
    public private(set) var additionalParameters = AdditionalParameters()
    /// What was asked for that the configuration does not ask for.
    var additions = LoginAdditions()
    /// How long to wait between two requests.
    package let interval: Duration

    /// - Parameters:
    ///   - response: what the server answered.
    ///   - verifier: whose challenge was sent.
    ///   - sentAt: when it was asked for; its lifetime counts from then.
    /// - Returns: nil for an answer without what the person and we need, or with bytes that no terminal should get.
    package init?(_ response: ProviderResponse, verifier: Secret, sentAt: Instant) {
        let body = AnswerBody(response.body)
        guard response.status == 200, let code = body[.deviceCode]?.string, !code.isEmpty,
            let userCode = Self.printable(body[.userCode]),
            // Google's name is older than the RFC.
            let uri = Self.printable(body[.verificationURI] ?? body[.verificationURL])
        else { return nil }
        self.code = Secret(code)
        self.verifier = verifier
        self.userCode = userCode
        verificationURI = uri
        completeVerificationURI = Self.printable(body[.completeVerificationURI])
        let lifetime = Self.seconds(body[.expiresIn]) ?? Self.standardLifetime
        expiry = sentAt + min(lifetime, Self.longestLifetime)
        interval =
            Self.seconds(body[.interval]).map { min(max($0, .seconds(1)), .seconds(300)) }
            ?? Self.standardInterval
        if case .object(let object) = body {
            let known: [ResponseMember] = [
                .deviceCode, .userCode, .verificationURI, .verificationURL, .completeVerificationURI,
                .expiresIn, .interval,
            ]
            additionalParameters = AdditionalParameters(object, except: Set(known.map(\.rawValue)))
        }
    }

    /// One whose person has been told already: what is left is to wait.
    package init(code: Secret, verifier: Secret, interval: Duration, expiry: Instant) {
        self.code = code
        self.verifier = verifier
        self.interval = min(max(interval, .seconds(1)), .seconds(300))
        self.expiry = expiry
        userCode = ""
        verificationURI = ""
        completeVerificationURI = nil
    }

    /// This authorization, given up at `moment` if it does not expire before.
    public func expiring(by moment: Instant) -> DeviceAuthorization {
        var sooner = self
        sooner.expiry = min(expiry, moment)
        return sooner
    }

    private static func printable(_ value: JSONValue?) -> String? {
        guard let text = value?.string, 1...2048 ~= text.utf8.count,
            text.utf8.allSatisfy({ 0x20...0x7E ~= $0 })
        else {
            return nil
        }
        return text
    }

    private static func seconds(_ value: JSONValue?) -> Duration? {
        guard let number = value?.number ?? value?.string.flatMap(Double.init), number.isFinite, number > 0
        else {
            return nil
        }
        return .seconds(min(number, 1e9))
    }
}
