// SPDX-License-Identifier: Apache-2.0

extension ClientConfiguration: Redacted {
    /// The client, its server, its name and its grant in one line; parameters and headers, which may be secret, are not shown.
    public var description: String {
        let server = issuer ?? discoveryURL?.description ?? endpoints[.token]?.description ?? "no server"
        let client = clientID.isEmpty ? "a client" : "client \(clientID)"
        return "\(client) of \(server) ('\(name)', \(grantType.rawValue))".onOneLine
    }
}
