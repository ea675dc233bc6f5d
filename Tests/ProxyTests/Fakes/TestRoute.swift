// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPClient
import BearerdHTTPMessages
import BearerdRouting
import OAuth
import Testing

@testable import BearerdProxy

/// A route as a test describes it.
struct TestRoute {
    var key: RouteKey
    var upstream: String
    var terms = RouteTerms()
    var session: AuthSession?

    init(_ path: String = "/", to upstream: String = "http://api.example") {
        key = RouteKey(path: path)
        self.upstream = upstream
    }

    /// The route, to an upstream of its own.
    func prepared() throws -> PreparedRoute {
        let url = try #require(HTTPURL(upstream))
        return PreparedRoute(
            key, to: SharedUpstream(UpstreamAddress(url: url)), as: session, on: terms)
    }

    /// The route with some changes.
    static func prepared(
        _ path: String = "/", to upstream: String = "http://api.example",
        _ change: (inout TestRoute) -> Void = { _ in }
    ) throws -> PreparedRoute {
        var route = TestRoute(path, to: upstream)
        change(&route)
        return try route.prepared()
    }
}
