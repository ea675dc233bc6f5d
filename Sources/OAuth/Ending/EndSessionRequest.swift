// SPDX-License-Identifier: Apache-2.0

public import Cryptography
public import HTTPMessages

/// A request to end the user's session at the provider (OpenID Connect RP-Initiated Logout §2).
public struct EndSessionRequest: Sendable {
    /// The end session endpoint.
    public let endpoint: HTTPURL
    /// Tells the provider whose session it is, so that it need not ask; nil where there is none.
    public let idToken: Secret?
    /// The client that asks (`client_id`).
    public let clientID: String

    /// What is posted, in order; holds the id token.
    package var parameters: [(EndingParameter, String)] {
        let hint = idToken.map { [(EndingParameter.idTokenHint, $0.withPlaintext { $0 })] } ?? []
        return hint + [(.clientID, clientID)]
    }

    /// The address for a browser, in which no token is: the provider knows the user by its cookie, and asks.
    public var url: String {
        let separator = endpoint.query == nil ? "?" : "&"
        var query: [UInt8] = []
        PercentEncoding.encode(clientID, into: &query)
        return
            "\(endpoint)\(separator)\(EndingParameter.clientID.rawValue)=\(String(decoding: query, as: UTF8.self))"
    }
}
