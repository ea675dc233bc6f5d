// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdHTTPServer

@testable import BearerdAdmin
@testable import OAuth

/// Tests of the status page at one moment.
protocol ShowsPage {}

extension ShowsPage {
    var now: WallTime { WallTime(secondsSinceEpoch: 1_795_257_654) }

    func identity(_ name: String, _ state: SessionState = .authorized) -> SessionStatus {
        var status = SessionStatus(
            name: name, state: state, generation: 3, expiresAt: now + .seconds(45), lifetime: .seconds(300),
            scope: [], lastRefresh: WallTime(secondsSinceEpoch: 1_795_257_354))
        status.nextRequest = now + .seconds(15)
        return status
    }

    func page(
        _ identities: [SessionStatus], routes: [RouteStatus] = [], samples: [TrafficHistory.Sample] = [],
        logins: Set<String> = []
    ) -> String {
        let page = StatusPage(
            document: StatusDocument(
                version: "1", uptime: .seconds(7200), identities: identities, routes: routes, requests: nil),
            samples: samples, logins: logins, isDraining: false, now: now)
        return Answer(page.reply).text
    }
}
