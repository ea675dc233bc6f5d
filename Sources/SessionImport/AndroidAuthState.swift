// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSON

/// An `AuthState` as AppAuth for Android writes it (`jsonSerializeString`).
struct AndroidAuthState {
    private let object: JSONObject

    init(_ object: JSONObject) { self.object = object }

    func session() throws(ImportError) -> ImportedSession {
        let token = object["mLastTokenResponse"]
        let authorization = object["lastAuthorizationResponse"]
        guard token != nil || authorization != nil || object["refreshToken"] != nil
        else { throw .malformed("it is no AuthState of AppAuth for Android") }
        var session = try ImportedSession(
            refreshToken: object["refreshToken"]?.string ?? token?["refresh_token"]?.string)
        session.take(idToken: token?["id_token"]?.string ?? authorization?["id_token"]?.string)
        session.take(scope: object["scope"]?.string ?? token?["scope"]?.string)
        let requests = [token?["request"], authorization?["request"]]
        session.clientID =
            requests.lazy.compactMap { $0?["clientId"]?.string }.first
            ?? object["lastRegistrationResponse"]?["client_id"]?.string
        let configurations = [object["config"]] + requests.map { $0?["configuration"] }
        session.issuer = configurations.lazy.compactMap { $0?["discoveryDoc"]?["issuer"]?.string }.first
        return session
    }
}
