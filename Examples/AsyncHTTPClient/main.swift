// SPDX-License-Identifier: Apache-2.0
//
// What a program on swift-nio adds to its Package.swift beside async-http-client:
//
//     .product(name: "OAuth", package: "bearerd")
//
// `.ci/names` builds this beside stubs with the names of swift-nio's and async-http-client's targets, in Stubs.

import AsyncHTTPClient
import OAuth

var configuration = HTTPClient.Configuration()
configuration.redirectConfiguration = .disallow
let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
print(type(of: AsyncHTTPClientTransport(client: client) as any TokenTransport))
try await client.shutdown()
