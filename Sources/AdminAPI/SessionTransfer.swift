// SPDX-License-Identifier: Apache-2.0

package import Cryptography
package import JSON
package import OAuth

/// What a command hands to the daemon where it cannot open the store itself; tokens go this way alone.
package enum SessionHandover: Sendable {
    /// The code of a finished login in a browser, to exchange.
    case code(AuthorizationCode)
    /// The code of a finished login in a browser, to keep until ``pending`` has it exchanged.
    case kept(AuthorizationCode)
    /// Nothing new: the code that was ``kept(_:)`` is to be exchanged.
    case pending
    /// A code that a person decides about on another device.
    case device(code: Secret, verifier: Secret, interval: Duration, lifetime: Duration)
    /// What another program obtained; `clientID` is the client that it stays of, if that is another than the identity's.
    case imported(refreshToken: Secret, idToken: Secret?, scope: [String], clientID: String?, person: Person?)
    /// Nothing yet: whether a login could be stored.
    case inquiry

    private static let longestLifetime: Duration = .seconds(3600)

    private enum Member: String {
        case kind
        case code
        case redirectURI = "redirect_uri"
        case verifier = "code_verifier"
        case nonce
        case parameters
        case proofKey = "proof_key"
        case deviceCode = "device_code"
        case intervalSeconds = "interval"
        case lifetimeSeconds = "expires_in"
        case refreshToken = "refresh_token"
        case idToken = "id_token"
        case scope
        case clientID = "client_id"
        case person
        case additions
    }

    private enum Kind: String {
        case code
        case kept
        case pending
        case device
        case imported
        case inquiry
    }

    private var kind: Kind {
        switch self {
        case .code: .code
        case .kept: .kept
        case .pending: .pending
        case .device: .device
        case .imported: .imported
        case .inquiry: .inquiry
        }
    }

    /// The JSON that says it, secrets in the clear.
    package var json: JSONValue {
        var object = JSONObject()
        func put(_ member: Member, _ value: JSONValue?) { object[member.rawValue] = value }
        func put(_ member: Member, _ secret: Secret?) { put(member, secret?.json) }
        put(.kind, .string(kind.rawValue))
        switch self {
        case .code(let code), .kept(let code):
            put(.code, code.code)
            put(.redirectURI, .string(code.redirectURI))
            put(.verifier, code.verifier)
            put(.nonce, code.nonce)
            put(.parameters, .object(code.additionalParameters.members))
            put(.proofKey, code.proofKey)
            put(.additions, code.additions.json.map { .object($0) })
        case .pending, .inquiry:
            break
        case .device(let code, let verifier, let interval, let lifetime):
            put(.deviceCode, code)
            put(.verifier, verifier)
            put(.intervalSeconds, .integer(interval.components.seconds))
            put(.lifetimeSeconds, .integer(lifetime.components.seconds))
        case .imported(let refreshToken, let idToken, let scope, let clientID, let person):
            put(.refreshToken, refreshToken)
            put(.idToken, idToken)
            put(.scope, .array(scope.map(JSONValue.string)))
            put(.clientID, clientID.map(JSONValue.string))
            put(.person, person.map { .object($0.json) })
        }
        return .object(object)
    }

    /// Reads what ``json`` wrote; nil for anything else.
    package init?(_ json: JSONValue) {
        func secret(_ member: Member) -> Secret? {
            json[member.rawValue]?.string.flatMap { $0.isEmpty ? nil : Secret($0) }
        }
        func duration(_ member: Member) -> Duration? {
            json[member.rawValue]?.integer.flatMap {
                1...Self.longestLifetime.components.seconds ~= $0 ? .seconds($0) : nil
            }
        }
        var code: AuthorizationCode? {
            guard let code = secret(.code), let uri = json[Member.redirectURI.rawValue]?.string,
                let verifier = secret(.verifier), let nonce = secret(.nonce)
            else { return nil }
            var whole = AuthorizationCode(code: code, redirectURI: uri, verifier: verifier, nonce: nonce)
            whole.additionalParameters = AdditionalParameters(json[Member.parameters.rawValue]?.object ?? [:])
            whole.proofKey = secret(.proofKey)
            whole.additions = LoginAdditions(json[Member.additions.rawValue]?.object)
            return whole
        }
        switch json[Member.kind.rawValue]?.string.flatMap(Kind.init(rawValue:)) {
        case .code?:
            guard let code else { return nil }
            self = .code(code)
        case .kept?:
            guard let code else { return nil }
            self = .kept(code)
        case .pending?:
            self = .pending
        case .inquiry?:
            self = .inquiry
        case .device?:
            guard let code = secret(.deviceCode), let verifier = secret(.verifier),
                let interval = duration(.intervalSeconds), let lifetime = duration(.lifetimeSeconds)
            else { return nil }
            self = .device(code: code, verifier: verifier, interval: interval, lifetime: lifetime)
        case .imported?:
            guard let token = secret(.refreshToken) else { return nil }
            self = .imported(
                refreshToken: token, idToken: secret(.idToken),
                scope: json[Member.scope.rawValue]?.array?.compactMap(\.string) ?? [],
                clientID: json[Member.clientID.rawValue]?.string,
                person: json[Member.person.rawValue]?.object.map(Person.init))
        case nil:
            return nil
        }
    }
}

extension Secret {
    fileprivate var json: JSONValue { .string(withPlaintext { $0 }) }
}
