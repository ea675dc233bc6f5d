// SPDX-License-Identifier: Apache-2.0

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
}
