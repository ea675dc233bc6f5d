// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON

/// A client registration response (RFC 7591 §3.2).
package struct RegistrationResponse {
    package let registration: ClientRegistration

    /// Throws a ``TokenFailure`` for anything but a usable client.
    package init(_ response: TransportResponse, of configuration: ClientConfiguration) throws(TokenFailure) {
        func broken(_ reason: String) -> TokenFailure {
            TokenFailure(
                .transient, .badRegistration,
                detail: "the answer of \(response.place) to the registration \(reason)")
        }
        guard case .object(let object) = ResponseBody(response.body) else {
            guard response.status == 200 || response.status == 201 else {
                throw Self.failure(response, nil)
            }
            throw broken("is no JSON object")
        }
        func member(_ name: RegistrationMember) -> JSONValue? { object[name.rawValue] }
        guard response.status == 200 || response.status == 201 else {
            throw Self.failure(
                response, member(.error)?.string.flatMap(ErrorCode.init(rawValue:)))
        }
        guard let clientID = member(.clientID)?.string, Self.isPrintable(clientID) else {
            throw broken("has no client_id")
        }
        let secret = member(.clientSecret)?.string.flatMap { $0.isEmpty ? nil : $0 }
        guard secret.map(Self.isPrintable) ?? true else {
            throw broken("has a client_secret of odd bytes")
        }

        let method = member(.tokenEndpointAuthMethod)?.string
        let isAsked = secret == nil || configuration.authentication.needsSecret
        let standard = isAsked ? configuration.authentication : .basic
        guard let authentication = method.map(ClientAuthentication.init(rawValue:)) ?? standard else {
            throw broken("has a token_endpoint_auth_method that is not known here")
        }
        var made = ClientRegistration(
            clientID: clientID, clientSecret: secret.map { Secret($0) },
            secretExpiry: secret == nil ? nil : Self.moment(member(.clientSecretExpiresAt)),
            authentication: authentication, replacedClientID: configuration.clientID)
        let known: [RegistrationMember] = [
            .clientID, .clientSecret, .clientSecretExpiresAt, .tokenEndpointAuthMethod,
        ]
        made.additionalParameters = AdditionalParameters(object, except: Set(known.map(\.rawValue)))
        registration = made
        guard registration.isComplete else {
            throw broken("has no client_secret, which its method needs")
        }
    }

    /// nil for 0, which means never (§3.2.1); far dates are cut to avoid overflow.
    private static func moment(_ value: JSONValue?) -> WallTime? {
        guard let seconds = value?.number, seconds > 0 else { return nil }
        return WallTime(secondsSinceEpoch: Int64(min(seconds, 1e11)))
    }

    /// RFC 6749 appendix A.1, A.2.
    private static func isPrintable(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 4096 && text.utf8.allSatisfy { 0x20...0x7E ~= $0 }
    }

    private static func failure(_ response: TransportResponse, _ code: ErrorCode?) -> TokenFailure {
        let status = response.status
        let isRefusal = 400..<500 ~= status
        let hint = status == 401 || status == 403 ? "; it may want an initial_access_token" : ""
        return TokenFailure(
            isRefusal ? .misconfigured : .transient, .init(code, status: status),
            detail: response.failureDetail + hint
        ).refused(in: .registration, response)
    }
}
