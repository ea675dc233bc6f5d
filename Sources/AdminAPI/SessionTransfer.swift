// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
package import BearerdJSON
package import OAuth

/// A session or login that a command sends to the daemon because it cannot open the store itself; tokens go no other
/// way.
package enum SessionTransfer: Sendable {
    /// The code of a login in a browser, to redeem.
    case code(AuthorizationCode)
    /// The code of a login in a browser, to keep until ``pending`` has it redeemed.
    case kept(AuthorizationCode)
    /// Redeems the code that was ``kept(_:)``.
    case pending
    /// A device code that a person decides about on another device, for the server and client of `binding`
    /// (`ClientConfiguration.binding`).
    case device(code: Secret, verifier: Secret, interval: Duration, lifetime: Duration, binding: String?)
    /// Another program's session; `clientID` is its client if that differs from the identity's, and `binding` the server and
    /// client of the identity in the command's configuration (`ClientConfiguration.binding`).
    case imported(
        refreshToken: Secret, idToken: Secret?, scope: [String], clientID: String?, person: Person?,
        binding: String?)
    /// Asks whether a login could be stored.
    case inquiry

    private static let longestLifetime: Duration = .seconds(3600)

    private enum Kind: String {
        case code, kept, pending, device, imported, inquiry
    }

    /// The JSON form, with secrets in plain text.
    package var json: JSONValue {
        switch self {
        case .code(let code): Self.json(.code, code)
        case .kept(let code): Self.json(.kept, code)
        case .pending: Self.json(.pending)
        case .inquiry: Self.json(.inquiry)
        case .device(let code, let verifier, let interval, let lifetime, let binding):
            JSONValue(admin: [
                .kind: .string(Kind.device.rawValue), .deviceCode: code.json, .verifier: verifier.json,
                .interval: .integer(interval.components.seconds),
                // Of the last second there is a rest.
                .expiresIn: .integer(max(1, lifetime.components.seconds)),
                .binding: binding.map(JSONValue.string),
            ])
        case .imported(let refreshToken, let idToken, let scope, let clientID, let person, let binding):
            JSONValue(admin: [
                .kind: .string(Kind.imported.rawValue), .refreshToken: refreshToken.json,
                .idToken: idToken?.json, .scope: .array(scope.map(JSONValue.string)),
                .clientID: clientID.map(JSONValue.string), .person: person.map { .object($0.json) },
                .binding: binding.map(JSONValue.string),
            ])
        }
    }

    private static func json(_ kind: Kind, _ code: AuthorizationCode? = nil) -> JSONValue {
        JSONValue(admin: [
            .kind: .string(kind.rawValue), .code: code?.code.json,
            .redirectURI: (code?.redirectURI).map(JSONValue.string), .verifier: code?.verifier.json,
            .nonce: code?.nonce.json, .parameters: code.map { .object($0.additionalParameters.members) },
            .proofKey: code?.proofKey?.json, .binding: (code?.binding).map(JSONValue.string),
            .additions: code?.additions.json.map { .object($0) },
        ])
    }

    /// Reads ``json``; nil for anything else.
    package init?(_ json: JSONValue) {
        func secret(_ member: AdminMember) -> Secret? {
            json[member]?.string.flatMap { $0.isEmpty ? nil : Secret($0) }
        }
        func duration(_ member: AdminMember) -> Duration? {
            json[member]?.integer.flatMap {
                1...Self.longestLifetime.components.seconds ~= $0 ? .seconds($0) : nil
            }
        }
        var code: AuthorizationCode? {
            guard let code = secret(.code), let uri = json[.redirectURI]?.string,
                let verifier = secret(.verifier), let nonce = secret(.nonce)
            else { return nil }
            var whole = AuthorizationCode(code: code, redirectURI: uri, verifier: verifier, nonce: nonce)
            whole.additionalParameters = AdditionalParameters(json[.parameters]?.object ?? [:])
            whole.proofKey = secret(.proofKey)
            whole.binding = json[.binding]?.string
            whole.additions = LoginAdditions(json[.additions]?.object)
            return whole
        }
        switch json[.kind]?.string.flatMap(Kind.init(rawValue:)) {
        case .code?:
            guard let code else { return nil }
            self = .code(code)
        case .kept?:
            guard let code else { return nil }
            self = .kept(code)
        case .pending?: self = .pending
        case .inquiry?: self = .inquiry
        case .device?:
            guard let code = secret(.deviceCode), let verifier = secret(.verifier),
                let interval = duration(.interval), let lifetime = duration(.expiresIn)
            else { return nil }
            self = .device(
                code: code, verifier: verifier, interval: interval, lifetime: lifetime,
                binding: json[.binding]?.string)
        case .imported?:
            guard let token = secret(.refreshToken) else { return nil }
            self = .imported(
                refreshToken: token, idToken: secret(.idToken), scope: json.strings(.scope),
                clientID: json[.clientID]?.string, person: json[.person]?.object.map(Person.init),
                binding: json[.binding]?.string)
        case nil: return nil
        }
    }
}

extension Secret {
    fileprivate var json: JSONValue { .string(withPlaintext { $0 }) }
}
