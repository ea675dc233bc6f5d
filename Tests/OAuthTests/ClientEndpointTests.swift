// SPDX-License-Identifier: Apache-2.0

import BearerdJSON
import Testing

@testable import OAuth

struct `Endpoints given by hand` {
    @Test func `are URLs`() throws {
        let client = try #require(
            ClientConfiguration(
                name: "default", clientID: "app", authorizationEndpoint: "https://sso.example/a",
                tokenEndpoint: "https://sso.example/t", endSessionEndpoint: "https://sso.example/e"))
        #expect(client.problems.isEmpty && client.endpoints[.endSession]?.path == "/e")
        for wrong in ["", "sso.example/t", "http+unix:/run/x", "ftp://sso.example/t"] {
            let refused = ClientConfiguration(
                name: "default", clientID: "app", authorizationEndpoint: "https://sso.example/a",
                tokenEndpoint: wrong)
            #expect(refused == nil, "\(wrong)")
        }
        let google = ClientConfiguration.google(name: "default", clientID: "app")
        #expect(google.problems.isEmpty && google.issuer == "https://accounts.google.com")
    }

    @Test func `are those of a server that is known, but for what its certificates decide`() throws {
        let service = try #require(
            ServiceConfiguration(document: [
                "issuer": "https://sso.example", "authorization_endpoint": "https://sso.example/a",
                "token_endpoint": "https://sso.example/t", "userinfo_endpoint": "https://sso.example/u",
                "mtls_endpoint_aliases": ["token_endpoint": "https://mtls.sso.example/t"],
            ]))
        let client = ClientConfiguration(name: "default", clientID: "app", service: service)
        #expect(client.problems.isEmpty && client.grantType == .authorizationCode)
        #expect(client.issuer == "https://sso.example")
        #expect(client.endpoints[.authorization]?.path == "/a" && client.endpoints[.userinfo]?.path == "/u")
        #expect(client.endpoints[.token] == nil, "it depends on whether the client has a certificate")
    }
}
