// SPDX-License-Identifier: Apache-2.0

internal import BearerdPropertyList

/// An `OIDAuthState` in a keyed archive, or GTMAppAuth's session around one.
struct ArchivedAuthState {
    private let archive: KeyedArchive
    private let state: [String: PropertyListValue]
    /// GTMAppAuth's session around the state, if there is one.
    private let session: [String: PropertyListValue]?

    init(_ archive: KeyedArchive) throws(ImportError) {
        self.archive = archive
        let outer = archive.object(archive.root)
        guard let state = archive.object(outer?["authState"]) ?? outer,
            ["refreshToken", "lastTokenResponse", "lastAuthorizationResponse"].contains(where: {
                state[$0] != nil
            })
        else { throw .malformed("it is an archive of something else than an OIDAuthState") }
        self.state = state
        session = outer?["authState"] == nil ? nil : outer
    }

    func imported() throws(ImportError) -> ImportedSession {
        let token = archive.object(state["lastTokenResponse"])
        let authorization = archive.object(state["lastAuthorizationResponse"])
        var imported = try ImportedSession(
            refreshToken: archive.string(state["refreshToken"]) ?? archive.string(token?["refresh_token"]))
        imported.take(
            idToken: archive.string(token?["id_token"]) ?? archive.string(authorization?["id_token"]))
        imported.take(scope: archive.string(state["scope"]) ?? archive.string(token?["scope"]))
        let requests = [token, authorization].map { archive.object($0?["request"]) }
        imported.clientID = requests.lazy.compactMap { archive.string($0?["client_id"]) }.first
        imported.issuer = requests.lazy.compactMap { issuer(of: archive.object($0?["configuration"])) }.first
        imported.take(
            userID: archive.string(session?["userID"]), email: archive.string(session?["userEmail"]),
            isVerified: archive.string(session?["userEmailIsVerified"]))
        return imported
    }

    private func issuer(of configuration: [String: PropertyListValue]?) -> String? {
        if let issuer = archive.string(configuration?["issuer"]) { return issuer }
        // Older versions archived the document's members themselves, newer ones an object around them.
        let document = configuration?["discoveryDocument"]
        let members = archive.object(document)?["discoveryDictionary"] ?? document
        return archive.string(archive.dictionary(members)["issuer"])
    }
}
