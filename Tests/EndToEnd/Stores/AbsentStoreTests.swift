// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What is told of a store that cannot be reached: its name, and not the provider's.
@Suite(.blocking) struct `A store that is away` {
    @Test func `is named by answers, status, page, metrics and commands, not the provider`() throws {
        let (holder, nobody) = try Socket.refusing()
        let key = String(repeating: "0f", count: 32)
        let sidecar = try Sidecar(
            .init(
                store: """
                    type: redis
                    url: redis://\(nobody)
                    encryption_key: \(key)
                    """))
        let answer = try sidecar.get()
        #expect(answer.status == 503 && answer.problem == "idp_unavailable" && answer["Retry-After"] != nil)
        let detail = answer.json["detail"].string ?? ""
        #expect(detail.hasPrefix("The store of the sessions cannot be used"), "\(detail)")
        #expect(!detail.contains("provider"))
        let status = try sidecar.identityStatus()
        #expect(status["state"].string == "idp_unavailable", "\(status)")
        #expect(status["last_error"]["code"].string == "store_unavailable")
        #expect(status["last_error"]["detail"].string?.contains("\(nobody)") == true, "\(status)")
        try eventually("the answer to be counted") {
            let route = try sidecar.admin("GET", "/api/status").json["routes"][0]["answers"]
            return route["bearerd"].number == 1 && route["provider"].number == 0
        }
        #expect(try sidecar.metrics().sum("bearerd_store_unavailable", "identity=\"default\"") == 1)
        let page = try sidecar.admin("GET", "/").text
        #expect(page.contains("The store cannot be used") && !page.contains("The provider gives no token"))
        let refresh = try sidecar.act("refresh")
        #expect(refresh.status == 503 && refresh.text.contains("The store of the sessions cannot be used"))
        let token = try BearerdProcess.command("token", "-c", sidecar.directory.path("config.yaml"))
        #expect(token.exit == 69 && token.errors.contains("store"), "\(token)")
        #expect(!token.errors.contains("no token from the provider"))
        #expect(sidecar.provider.requests.isEmpty, "nothing is asked for meanwhile")
        _ = holder
    }
}
