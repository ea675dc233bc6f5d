// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON

/// A device authorization response (RFC 8628 §3.2).
public struct DeviceAuthorization: Sendable {
    private static let standardInterval: Duration = .seconds(5)
    private static let standardLifetime: Duration = .seconds(300)
    private static let longestLifetime: Duration = .seconds(86_400)

    /// `device_code`: identifies the authorization in token requests.
    package let code: Secret
    /// PKCE's `code_verifier`, which RFC 8628 does not know but Keycloak may require.
    package let verifier: Secret
    /// `user_code`: the person types it in.
    public let userCode: String
    /// `verification_uri`: the page for the code.
    public let verificationURI: String
    /// `verification_uri_complete`: the page with the code filled in; nil if the server has none.
    public let completeVerificationURI: String?
    /// When the code expires.
    public private(set) var expiry: Instant
    /// Further members of the response.
    public private(set) var additionalParameters = AdditionalParameters()
    /// The server and client that the code is for (``ClientConfiguration/binding``): nobody else is to see it; nil if not
    /// known.
    package var binding: String?
    /// The login's own scope.
    var additions = LoginAdditions()
    /// The least time between two token requests.
    package let interval: Duration

    /// - Parameters:
    ///   - verifier: the one whose challenge was sent.
    ///   - sentAt: when the request was sent; the lifetime counts from here.
    /// - Returns: nil if a required member is missing or not printable, or the page is none of the web's.
    package init?(_ response: TransportResponse, verifier: Secret, sentAt: Instant) {
        let body = ResponseBody(response.body)
        guard response.status == 200, let code = body[.deviceCode]?.string, !code.isEmpty,
            let userCode = Self.printable(body[.userCode]),
            // Google's name is older than the RFC.
            let uri = Self.webAddress(body[.verificationURI] ?? body[.verificationURL])
        else { return nil }
        self.code = Secret(code)
        self.verifier = verifier
        self.userCode = userCode
        verificationURI = uri
        completeVerificationURI = Self.webAddress(body[.completeVerificationURI])
        let lifetime = Self.seconds(body[.expiresIn]) ?? Self.standardLifetime
        expiry = sentAt + min(lifetime, Self.longestLifetime)
        interval =
            Self.seconds(body[.interval]).map { min(max($0, .seconds(1)), .seconds(300)) }
            ?? Self.standardInterval
        additionalParameters = body.additionalParameters(except: [
            .deviceCode, .userCode, .verificationURI, .verificationURL, .completeVerificationURI,
            .expiresIn, .interval,
        ])
    }

    /// An authorization that the person was shown already, for polling alone.
    package init(code: Secret, verifier: Secret, interval: Duration, expiry: Instant) {
        self.code = code
        self.verifier = verifier
        self.interval = min(max(interval, .seconds(1)), .seconds(300))
        self.expiry = expiry
        userCode = ""
        verificationURI = ""
        completeVerificationURI = nil
    }

    /// This authorization with an expiry at `moment`, if that is earlier.
    package func expiring(by moment: Instant) -> DeviceAuthorization {
        var sooner = self
        sooner.expiry = min(expiry, moment)
        return sooner
    }

    /// An address that a person opens in a browser, where another scheme may run a program or a script.
    private static func webAddress(_ value: JSONValue?) -> String? {
        printable(value).flatMap { text in
            ["https://", "http://"].contains { text.lowercased().hasPrefix($0) } ? text : nil
        }
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

/// The interval of the device flow's token requests (RFC 8628 §3.5).
struct DevicePolling {
    private static let slowDown: Duration = .seconds(5)
    /// The interval doubles with each request that is not answered, up to this.
    private static let longestInterval: Duration = .seconds(60)

    private(set) var interval: Duration

    /// Adjusts the interval to the response of a request.
    ///
    /// - Returns: true if the request is to be repeated; false for a failure that ends the login.
    /// - Throws: ``LoginError`` if the person has refused, or not decided in time.
    mutating func continues(after failure: TokenFailure) throws(LoginError) -> Bool {
        switch failure.reason {
        case .refused(.authorizationPending):
            return true
        case .refused(.slowDown):
            interval += Self.slowDown
            return true
        case .refused(.accessDenied):
            throw .refused(AuthorizationRefusal(code: .accessDenied, description: nil))
        case .refused(.expiredToken):
            throw .expired
        default:
            guard failure.kind == .transient, failure.tellsNothing else { return false }
            interval = max(interval, min(interval * 2, Self.longestInterval), failure.retryAfter ?? .zero)
            return true
        }
    }
}

extension TokenFailure {
    /// True if it tells nothing of the decision of the person who is to log in on another device.
    var tellsNothing: Bool {
        switch reason {
        case .refused(let error): [.temporarilyUnavailable, .serverError, .useDPoPNonce].contains(error)
        case .status, .unreachable, .timedOut, .interrupted, .notHTTP, .emptyResponse, .responseTooLarge: true
        case .certificate, .cancelled, .superseded, .store, .noAccessToken, .badAccessToken, .wrongTokenType,
            .expiredOnArrival, .tokenUnchanged, .badResponse, .badIDToken, .badSignature, .noKeys,
            .badUserinfo, .noSubject,
            .subjectMismatch, .badRegistration, .noMetadata, .issuerMismatch, .badIssuer, .noEndpoint,
            .insecureEndpoint, .notRegistered, .noCredential, .unreadableCredential, .badCredential,
            .badParameter, .badRedirectURI, .noIdentity, .noProof, .commandFailed:
            false
        }
    }
}
